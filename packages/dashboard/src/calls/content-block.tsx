import { useEffect, useMemo, useState } from 'react';
import { InertText } from '../text/inert-text';
import { bytes } from '../text/units';
import { Payload } from './payload';

const RASTER = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif', 'image/bmp']);
const FOLD_AT = 2048;

/** One block of an answer. Images are raster only and come from memory; nothing is fetched for them. */
export function ContentBlock({ block }: { block: unknown }) {
  if (typeof block !== 'object' || block === null) return <Payload title="Unknown content" value={block} />;
  const { type, text, data, mimeType, uri, resource, name } = block as Record<string, unknown>;
  if (type === 'text' && typeof text === 'string') return <TextBlock text={text} />;
  if ((type === 'image' || type === 'audio') && typeof data === 'string')
    return <Binary data={data} mimeType={String(mimeType ?? '')} />;
  if (type === 'resource_link' && typeof uri === 'string')
    return (
      <p>
        Link{' '}
        <code>
          <InertText text={uri} />
        </code>{' '}
        {typeof name === 'string' ? <InertText text={name} /> : null}
      </p>
    );
  if (type === 'resource' && typeof resource === 'object' && resource !== null) {
    const inner = resource as Record<string, unknown>;
    return (
      <div>
        <p className="dim">
          Resource{' '}
          <code>
            <InertText text={String(inner.uri ?? '')} />
          </code>
        </p>
        {typeof inner.text === 'string' ? (
          <TextBlock text={inner.text} />
        ) : (
          <Binary data={String(inner.blob ?? '')} mimeType={String(inner.mimeType ?? '')} />
        )}
      </div>
    );
  }
  return <Payload title={`Content of the kind “${String(type)}”`} value={block} />;
}

function TextBlock({ text }: { text: string }) {
  const [isWhole, setWhole] = useState(false);
  const parsed = useMemo(() => parsedJson(text), [text]);
  if (parsed !== undefined)
    return (
      <Payload title="Text, which is JSON" value={parsed} bytes={text.length} source={text} maxHeight={420} />
    );
  const shown = isWhole ? text : text.slice(0, FOLD_AT);
  return (
    <div>
      <pre className="box text-box">
        <InertText text={shown} />
      </pre>
      {text.length > FOLD_AT ? (
        <button type="button" className="button link" onClick={() => setWhole(!isWhole)}>
          {isWhole ? 'fold' : `show ${bytes(text.length)}`}
        </button>
      ) : null}
    </div>
  );
}

function parsedJson(text: string): unknown {
  if (!/^\s*[{[]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // It only looks like it.
  }
}

function Binary({ data, mimeType }: { data: string; mimeType: string }) {
  const [address, setAddress] = useState<string>();
  useEffect(() => {
    let made: string | undefined;
    try {
      const binary = Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
      made = URL.createObjectURL(
        new Blob([binary], { type: RASTER.has(mimeType) ? mimeType : 'application/octet-stream' }),
      );
      setAddress(made);
    } catch {
      setAddress(undefined); // Not base64: its kind and size are all that can be said.
    }
    return () => {
      if (made) URL.revokeObjectURL(made);
    };
  }, [data, mimeType]);
  const size = bytes(Math.floor(data.length * 0.75));
  return (
    <figure>
      {address && RASTER.has(mimeType) ? (
        <img className="picture" src={address} alt={`What the tool answered, ${mimeType}`} />
      ) : null}
      <figcaption className="dim row">
        <span>
          <InertText text={mimeType || 'binary'} /> {size}
        </span>
        {address ? (
          <a href={address} download="content">
            Save
          </a>
        ) : null}
      </figcaption>
    </figure>
  );
}
