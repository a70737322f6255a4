import type { CallDetails, CallRow } from '@mcpbridge/shared/call-row.js';
import { Link, useRouterState } from '@tanstack/react-router';
import { Ban, ExternalLink, Play, Square } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { messageOf, request } from '../net/request';
import { useKeys } from '../shell/keys';
import { Menu } from '../ui/menu';
import { isOver } from './call';
import { copyEntries } from './copy-entries';
import { withTerm } from './filter-words';
import { mayRepeat, useReplay } from './use-replay';
import { useToolOf } from './use-tool-of';

const ReplayDialog = lazy(() => import('./replay-dialog'));

interface CallActionsProps {
  call: CallRow;
  details: CallDetails | undefined;
  query?: string;
  onQuery?(query: string, how: { replace: boolean }): void;
}

export function CallActions({ call, details, query = '', onQuery }: CallActionsProps) {
  const [isEditing, setEditing] = useState(false);
  const [fault, setFault] = useState<string>();
  const isWhole = useRouterState({ select: ({ location }) => location.pathname.startsWith('/calls/') });
  const tool = useToolOf(call);
  const replay = useReplay(call.id);
  const canRepeat = details !== undefined && !details.argumentsCut && isOver(call);
  const begin = () => {
    if (!canRepeat) return;
    // What only reads, or says that twice is as once, needs no confirmation.
    if (tool && mayRepeat(tool)) replay.run(undefined).catch((error) => setFault(messageOf(error)));
    else setEditing(true);
  };
  const cancel = () =>
    request(`/api/calls/${call.id}/cancel`, { method: 'POST' }).then(
      () => setFault(undefined),
      (error) => setFault(messageOf(error)),
    );
  useKeys([
    { keys: 'r', label: 'Replay the call', run: begin },
    ...(isOver(call) ? [] : [{ keys: 'shift+x', label: 'Cancel the call', run: () => void cancel() }]),
  ]);
  return (
    <>
      <div className="row wrap actions">
        {isOver(call) ? (
          <>
            <button
              type="button"
              className="button"
              disabled={!canRepeat || replay.isRunning}
              onClick={begin}
            >
              <Play size={16} strokeWidth={1.5} aria-hidden />
              {replay.isRunning ? 'Replaying …' : tool && mayRepeat(tool) ? 'Replay' : 'Replay…'}
            </button>
            <button type="button" className="button" disabled={!canRepeat} onClick={() => setEditing(true)}>
              Edit and replay…
            </button>
          </>
        ) : (
          <button type="button" className="button danger" onClick={() => void cancel()}>
            <Square size={16} strokeWidth={1.5} aria-hidden /> Cancel
          </button>
        )}
        {onQuery ? (
          <Menu
            label="Filter like this"
            entries={[
              {
                label: 'This tool',
                keys: 'F',
                run: () =>
                  onQuery(withTerm(withTerm(query, 'server', call.server), 'tool', call.tool), {
                    replace: false,
                  }),
              },
              {
                label: 'Not this tool',
                keys: 'Shift F',
                run: () => onQuery(withTerm(query, 'tool', call.tool, true), { replace: false }),
              },
              {
                label: 'This session',
                run: () => onQuery(withTerm(query, 'session', call.session), { replace: false }),
              },
              ...(call.code
                ? [
                    {
                      label: `Code ${call.code}`,
                      run: () => onQuery(withTerm(query, 'code', call.code ?? ''), { replace: false }),
                    },
                  ]
                : []),
            ]}
          />
        ) : null}
        <Menu label="Copy" entries={copyEntries(call, details)} />
        {isWhole ? null : (
          <Link className="button quiet" to={`/calls/${call.id}` as never}>
            <ExternalLink size={16} strokeWidth={1.5} aria-hidden /> Open
          </Link>
        )}
      </div>
      {details?.argumentsCut ? (
        <p className="dim row">
          <Ban size={14} strokeWidth={1.5} aria-hidden /> Its arguments were too large to keep whole, so it
          cannot be replayed.
        </p>
      ) : null}
      {fault ? (
        <p className="note err" role="alert">
          {fault}
        </p>
      ) : null}
      {isEditing && details ? (
        <Suspense>
          <ReplayDialog call={details} tool={tool} onClose={() => setEditing(false)} />
        </Suspense>
      ) : null}
    </>
  );
}
