import type { CallDetails } from '@mcpbridge/shared/call-row.js';
import { InertText } from '../text/inert-text';
import { duration } from '../text/units';

/** What came between the call and its result. */
export function Notes({ call: { notes = [] } }: { call: CallDetails }) {
  if (notes.length === 0) return <p className="said">Neither progress nor log lines came with this call.</p>;
  return (
    <div className="scroll-x">
      <table className="table">
        <thead>
          <tr>
            <th className="num">After</th>
            <th>Kind</th>
            <th>Message</th>
          </tr>
        </thead>
        <tbody>
          {notes.map((note, index) => (
            <tr key={index}>
              <td className="num">{duration(note.ms)}</td>
              <td>{note.kind}</td>
              <td className="mono">
                <InertText text={said(note.params)} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function said(params: unknown): string {
  if (typeof params !== 'object' || params === null) return String(params ?? '');
  const { progress, total, message, level, data } = params as Record<string, unknown>;
  if (progress !== undefined)
    return [`${progress}${total === undefined ? '' : ` of ${total}`}`, message].filter(Boolean).join('  ');
  if (level !== undefined) return `${level}  ${typeof data === 'string' ? data : JSON.stringify(data)}`;
  return JSON.stringify(params);
}
