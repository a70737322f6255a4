import { useEffect, useRef } from 'react';
import { hiddenCount } from '../text/inert';
import { InertText } from '../text/inert-text';
import { count } from '../text/units';

interface WholeArgumentsProps {
  value: Record<string, unknown>;
  /** The end of the arguments has been on screen. */
  onSeen(): void;
}

/** All of it, nothing folded and nothing cut: nobody approves what they have not seen. */
export function WholeArguments({ value, onSeen }: WholeArgumentsProps) {
  const end = useRef<HTMLDivElement>(null);
  const box = useRef<HTMLElement>(null);
  useEffect(() => {
    if (!end.current) return;
    // Its own scrolling counts, and that of the page: an intersection with the screen is both.
    const observer = new IntersectionObserver(
      (entries) => entries.some(({ isIntersecting }) => isIntersecting) && onSeen(),
    );
    observer.observe(end.current);
    return () => observer.disconnect();
  }, [onSeen]);
  const entries = Object.entries(value);
  const texts = entries.map(
    ([name, inner]) => [name, typeof inner === 'string' ? inner : JSON.stringify(inner, null, 2)] as const,
  );
  const characters = texts.reduce((sum, [, text]) => sum + [...text].length, 0);
  const hidden = texts.reduce((sum, [name, text]) => sum + hiddenCount(name) + hiddenCount(text), 0);
  return (
    <div>
      <section className="whole" ref={box} tabIndex={0} aria-label="Arguments, whole">
        {entries.length === 0 ? <p className="said">no arguments</p> : null}
        <dl>
          {texts.map(([name, text]) => [
            <dt key={`${name}-name`} className="mono k">
              <InertText text={name} />
            </dt>,
            <dd key={name}>
              <pre>
                <InertText text={text} />
              </pre>
            </dd>,
          ])}
        </dl>
        <div ref={end} className="whole-end" />
      </section>
      <p className="dim">
        Shown whole: {count(characters)} characters
        {hidden > 0 ? (
          <strong className="wait-text">
            ,{' '}
            {hidden === 1
              ? '1 of them is invisible and marked'
              : `${hidden} of them are invisible and marked`}
          </strong>
        ) : null}
      </p>
    </div>
  );
}
