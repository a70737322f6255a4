import type { CallDetails } from '@mcpbridge/shared/call-row.js';
import { useMemo, useState } from 'react';
import { messageOf } from '../net/request';
import { Dialog } from '../ui/dialog';
import { readArguments } from './read-arguments';
import { mayRepeat, useReplay } from './use-replay';
import type { ListedTool } from './use-tool-of';

interface ReplayDialogProps {
  call: CallDetails;
  tool: ListedTool | undefined;
  onClose(): void;
}

/** The same call with other arguments, checked against the schema of today before anything is sent. */
export default function ReplayDialog({ call, tool, onClose }: ReplayDialogProps) {
  const before = useMemo(() => JSON.stringify(call.arguments ?? {}, null, 2), [call]);
  const [text, setText] = useState(before);
  const [session, setSession] = useState<'own' | 'fresh'>('own');
  const [isSure, setSure] = useState(false);
  const [fault, setFault] = useState<string>();
  const replay = useReplay(call.id);
  const { value, faults } = useMemo(() => readArguments(text, tool), [text, tool]);
  const needsYes = !tool || !mayRepeat(tool);
  const blocked = faults.length > 0 || replay.isRunning || (needsYes && !isSure);
  const run = () =>
    replay
      .run(text === before ? undefined : value, session)
      .then(onClose, (error) => setFault(messageOf(error)));
  return (
    <Dialog title={`Replay ${call.server} · ${call.tool}`} onClose={onClose} className="wide">
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (!blocked) void run();
        }}
      >
        <label>
          <span className="label">
            Arguments
            {tool ? ', checked against the tool’s schema of today' : ': the tool is not listed any more'}
          </span>
          <textarea
            className="field mono"
            rows={Math.min(18, text.split('\n').length + 2)}
            spellCheck={false}
            value={text}
            aria-invalid={faults.length > 0}
            onChange={(event) => setText(event.target.value)}
          />
        </label>
        {faults.length > 0 ? (
          <ul className="err-text" role="alert">
            {faults.map((line) => (
              <li key={line}>{line}</li>
            ))}
          </ul>
        ) : null}
        <fieldset className="row wrap plain-set">
          <legend className="label">Run in</legend>
          {(['own', 'fresh'] as const).map((kind) => (
            <label className="row" key={kind}>
              <input
                type="radio"
                name="session"
                checked={session === kind}
                onChange={() => setSession(kind)}
              />
              {kind === 'own' ? 'its session' : 'a fresh one'}
            </label>
          ))}
        </fieldset>
        {needsYes ? (
          <label className="row note wait">
            <input type="checkbox" checked={isSure} onChange={(event) => setSure(event.target.checked)} />
            <span>
              {tool?.annotations?.destructiveHint === true
                ? 'It may destroy something. '
                : 'It does not say that it only reads. '}
              Run <code>{call.tool}</code> of <code>{call.server}</code> once more.
            </span>
          </label>
        ) : null}
        {fault ? (
          <p className="note err" role="alert">
            {fault}
          </p>
        ) : null}
        <div className="row">
          <button type="submit" className="button primary" disabled={blocked}>
            {replay.isRunning ? 'Running …' : 'Run'}
          </button>
          <button type="button" className="button" onClick={onClose}>
            Close
          </button>
        </div>
      </form>
    </Dialog>
  );
}
