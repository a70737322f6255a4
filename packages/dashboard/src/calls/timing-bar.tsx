import type { CallDetails, CallTiming } from '@mcpbridge/shared/call-row.js';
import { InertText } from '../text/inert-text';
import { duration } from '../text/units';

const PARTS: readonly [keyof CallTiming, string, string][] = [
  ['rule', 'rules', 's4'],
  ['waiting', 'waiting for a person', 's5'],
  ['queue', 'connection', 's2'],
  ['upstream', 'upstream', 's1'],
  ['shape', 'shaping', 's6'],
];

/** Where the time went, as one bar; progress and log lines stand under it on the same scale. */
export function TimingBar({ call, isWhole = false }: { call: CallDetails; isWhole?: boolean }) {
  const { timing, ms, notes = [] } = call;
  if (!timing || ms === undefined)
    return isWhole ? (
      <p className="said">
        There is no timing: {ms === undefined ? 'the call runs still' : 'it was not kept'}.
      </p>
    ) : null;
  const all = Math.max(ms, 0.001);
  const parts = PARTS.map(([key, label, series]) => ({ key, label, series, took: timing[key] })).filter(
    ({ took }) => took > 0,
  );
  return (
    <section aria-label="Timing">
      <h3>
        Timing <span className="dim">{duration(ms)}</span>
      </h3>
      <div
        className="timing"
        role="img"
        aria-label={parts.map(({ label, took }) => `${label} ${duration(took)}`).join(', ')}
      >
        {parts.map(({ key, series, took }) => (
          <span key={key} style={{ width: `${(took / all) * 100}%`, background: `var(--${series})` }} />
        ))}
      </div>
      {isWhole && notes.length > 0 ? (
        <div className="timing-notes" aria-hidden>
          {notes.slice(0, 500).map((note, index) => (
            <i
              key={index}
              className={note.kind}
              style={{ left: `${Math.min(100, (note.ms / all) * 100)}%` }}
            />
          ))}
        </div>
      ) : null}
      <ul className="row wrap legend">
        {parts.map(({ key, label, series, took }) => (
          <li key={key} className="row">
            <i className="swatch" style={{ background: `var(--${series})` }} aria-hidden />
            <InertText text={label} /> <strong>{duration(took)}</strong>
          </li>
        ))}
      </ul>
    </section>
  );
}
