import { useId, useState } from 'react';
import { inert } from '../text/inert';
import { InertText } from '../text/inert-text';
import { bytes as sized } from '../text/units';
import { JsonTree } from '../ui/json-tree';

interface PayloadProps {
  title: string;
  value: unknown;
  bytes?: number | undefined;
  /** Bytes that were not kept. */
  cut?: number | undefined;
  maxHeight?: number;
  /** Levels that are open at first. */
  levels?: number;
  /** The text that the value was read from. */
  source?: string;
}

const MOST_TEXT = 256 * 1024;

/** A value as a tree or as text, with its size, and words to find in it. */
export function Payload({ title, value, bytes, cut, maxHeight = 300, levels = 2, source }: PayloadProps) {
  const [isText, setText] = useState(false);
  const [find, setFind] = useState('');
  const id = useId();
  const isTree = typeof value === 'object' && value !== null;
  const text = isText && isTree ? (source ?? JSON.stringify(value, null, 2)) : '';
  // Parts of a result are no places to go to.
  const Frame = source === undefined ? 'section' : 'div';
  return (
    <Frame {...(source === undefined ? { 'aria-label': title } : {})}>
      <header className="row payload-head">
        <h3 className="grow">
          {title} {bytes === undefined ? null : <span className="dim">{sized(bytes)}</span>}
        </h3>
        {isTree ? (
          <>
            <input
              className="field find"
              aria-label={`Find in ${title.toLowerCase()}`}
              placeholder="find"
              value={find}
              onChange={(event) => setFind(event.target.value)}
            />
            <button
              type="button"
              className="button quiet small"
              aria-pressed={isText}
              onClick={() => setText(!isText)}
            >
              Text
            </button>
          </>
        ) : null}
      </header>
      {cut ? (
        <p className="wait-text">
          Only its beginning was kept: {sized(cut)} of {sized((bytes ?? 0) || cut)} are missing.
        </p>
      ) : null}
      {isTree && !isText ? (
        <JsonTree value={value} label={`${title}${id}`} find={find} maxHeight={maxHeight} levels={levels} />
      ) : null}
      {isTree && isText ? (
        <>
          <pre className="box text-box">{inert(text.slice(0, MOST_TEXT))}</pre>
          {text.length > MOST_TEXT ? (
            <p className="wait-text">
              The first {sized(MOST_TEXT)} of {sized(text.length)}; the tree has all of it.
            </p>
          ) : null}
        </>
      ) : null}
      {isTree ? null : (
        <pre className="box text-box">
          <InertText
            text={value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value)}
          />
        </pre>
      )}
    </Frame>
  );
}
