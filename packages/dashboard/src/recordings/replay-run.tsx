import { useState } from 'react';
import { Side } from '../calls/change-list';
import { messageOf, request } from '../net/request';
import { inert } from '../text/inert';
import { count, duration } from '../text/units';
import { StatusMark } from '../ui/status-mark';
import type { OpenedRecording } from './use-recordings';

/** Of `POST /api/recordings/{name}/replay`. */
interface Replayed {
  differ: number;
  calls: {
    name: string;
    ms: { was: number; is?: number };
    differences: { path: string; was?: unknown; is?: unknown }[];
    skipped?: string;
  }[];
}

/** Makes the recorded calls again against the servers of today, and shows where their answers are others. */
export function ReplayRun({ recording }: { recording: OpenedRecording }) {
  const [isSure, setSure] = useState(false);
  const [isRunning, setRunning] = useState(false);
  const [fault, setFault] = useState<string>();
  const [replayed, setReplayed] = useState<Replayed>();
  const tools = [...new Set(recording.calls.map(({ name }) => name))];
  const run = async () => {
    setRunning(true);
    setFault(undefined);
    try {
      const path = `/api/recordings/${encodeURIComponent(recording.name)}/replay`;
      setReplayed(await request<Replayed>(path, { method: 'POST' }));
      setSure(false);
    } catch (error) {
      setFault(messageOf(error));
    } finally {
      setRunning(false);
    }
  };
  if (recording.calls.length === 0) return <p className="said">There is no call to make again.</p>;
  return (
    <div className="stack">
      <label className="row note wait">
        <input type="checkbox" checked={isSure} onChange={(event) => setSure(event.target.checked)} />
        <span>
          Make its {count(recording.calls.length)} calls once more, one after the other, in a session of their
          own:{' '}
          {tools.slice(0, 12).map((tool, at) => (
            <span key={tool}>
              {at > 0 ? ', ' : ''}
              <code>{inert(tool)}</code>
            </span>
          ))}
          {tools.length > 12 ? ` and ${tools.length - 12} more tools` : ''}. What they change is changed
          again.
        </span>
      </label>
      <div className="row">
        <button
          type="button"
          className="button primary"
          disabled={!isSure || isRunning}
          onClick={() => void run()}
        >
          {isRunning ? 'Running …' : 'Run'}
        </button>
      </div>
      {fault ? (
        <p className="note err" role="alert">
          {inert(fault)}
        </p>
      ) : null}
      {replayed ? <Outcome replayed={replayed} /> : null}
    </div>
  );
}

function Outcome({ replayed: { calls, differ } }: { replayed: Replayed }) {
  return (
    <section aria-label="Replayed" className="stack">
      <p role="status">
        <strong>
          {differ === 0
            ? 'All answers are the same.'
            : `${count(differ)} of ${count(calls.length)} answers differ.`}
        </strong>
      </p>
      <ol className="replayed">
        {calls.map(({ name, ms, differences, skipped }, at) => (
          <li key={at}>
            <div className="row wrap">
              <StatusMark status={skipped ? 'cancelled' : differences.length > 0 ? 'failed' : 'ok'} />
              <code className="grow">{inert(name)}</code>
              <span className="dim">
                {skipped
                  ? 'not made again'
                  : differences.length === 0
                    ? 'the same'
                    : differences.length === 1
                      ? '1 path differs'
                      : `${count(differences.length)} paths differ`}
                {ms.is === undefined ? '' : ` · ${duration(ms.was)}, now ${duration(ms.is)}`}
              </span>
            </div>
            {skipped ? <p className="dim">{inert(skipped)}</p> : null}
            <ul className="changes">
              {differences.map((one) => (
                <li key={one.path} data-path={one.path}>
                  <code className="k">{inert(one.path || 'the whole')}</code>
                  {'was' in one ? <Side mark="−" word="was" value={one.was} name="was" /> : null}
                  {'is' in one ? <Side mark="+" word="is" value={one.is} name="is" /> : null}
                </li>
              ))}
            </ul>
          </li>
        ))}
      </ol>
    </section>
  );
}
