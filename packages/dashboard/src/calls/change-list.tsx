import { useMemo, useState } from 'react';
import { inert } from '../text/inert';
import { differences } from './difference';

/** The changed paths, each with what was and what is; a path can be ignored. */
export function ChangeList({ title, was, is }: { title: string; was: unknown; is: unknown }) {
  const changes = useMemo(() => differences(was, is), [was, is]);
  const [ignored, setIgnored] = useState<string[]>([]);
  const shown = changes.filter(({ path }) => !ignored.includes(path));
  return (
    <section aria-label={title}>
      <h3>
        {title}{' '}
        <span className="dim">
          {changes.length === 0
            ? 'the same'
            : `${shown.length} ${shown.length === 1 ? 'path differs' : 'paths differ'}`}
          {ignored.length > 0 ? `, ${ignored.length} ignored` : ''}
        </span>
      </h3>
      <ul className="changes">
        {shown.slice(0, 500).map((change) => (
          <li key={change.path} data-path={change.path || '/'}>
            <div className="row">
              <code className="grow k">{inert(change.path || 'the whole')}</code>
              <button
                type="button"
                className="button quiet small"
                onClick={() => setIgnored([...ignored, change.path])}
              >
                Ignore this path
              </button>
            </div>
            {'was' in change ? <Side mark="−" word="was" value={change.was} name="was" /> : null}
            {'is' in change ? <Side mark="+" word="is" value={change.is} name="is" /> : null}
          </li>
        ))}
      </ul>
    </section>
  );
}

export function Side({
  mark,
  word,
  value,
  name,
}: {
  mark: string;
  word: string;
  value: unknown;
  name: 'was' | 'is';
}) {
  const text = typeof value === 'string' ? value : (JSON.stringify(value, null, 1) ?? '');
  return (
    <pre className={`side ${name}`}>
      <span aria-hidden>{mark} </span>
      <span className="hidden-text">{word}: </span>
      {inert(text.slice(0, 4000))}
      {text.length > 4000 ? ' …' : ''}
    </pre>
  );
}
