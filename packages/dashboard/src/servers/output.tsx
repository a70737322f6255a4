import { useEffect, useRef, useState } from 'react';
import { stripAnsi } from '../text/ansi';
import { InertText } from '../text/inert-text';

/** What its processes wrote, following like a terminal until somebody scrolls up. */
export function Output({ lines }: { lines: readonly string[] }) {
  const box = useRef<HTMLElement>(null);
  const [follows, setFollows] = useState(true);
  useEffect(() => {
    if (follows && lines && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [lines, follows]);
  return (
    <div className="stack">
      <section
        ref={box}
        className="terminal"
        aria-label="Output"
        tabIndex={0}
        onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) =>
          setFollows(scrollHeight - scrollTop - clientHeight < 8)
        }
      >
        {lines.length === 0 ? <p className="said">It has written nothing.</p> : null}
        {lines.map((line, index) => (
          <div key={index}>
            <InertText text={stripAnsi(line)} />
          </div>
        ))}
      </section>
      {follows ? (
        <p className="dim">The last {lines.length} lines, following.</p>
      ) : (
        <button type="button" className="button" onClick={() => setFollows(true)}>
          Held by scrolling: follow again
        </button>
      )}
    </div>
  );
}
