import { useMutation, useQueryClient } from '@tanstack/react-query';
import { messageOf, request } from '../net/request';
import { ServerSignIn } from './server-sign-in';
import type { ServerSummary } from './use-servers';

type Action = 'start' | 'stop' | 'restart';

/** What can be done to a server by hand; `isShort` leaves the one that is likely wanted. */
export function ServerActions({ server, isShort = false }: { server: ServerSummary; isShort?: boolean }) {
  const queries = useQueryClient();
  const act = useMutation({
    mutationFn: (action: Action) =>
      request(`/api/servers/${encodeURIComponent(server.id)}/${action}`, { method: 'POST' }),
    onSettled: () => {
      void queries.invalidateQueries({ queryKey: ['servers'] });
      void queries.invalidateQueries({ queryKey: ['server', server.id] });
    },
  });
  if (server.state === 'disabled' || server.state === 'faulty') return null;
  const isDown = server.state === 'stopped' || server.state === 'failed';
  const wanted: [Action, string][] = isDown
    ? [['start', server.state === 'failed' ? 'Try now' : 'Start']]
    : isShort
      ? [['stop', 'Stop']]
      : [
          ['restart', 'Restart'],
          ['stop', 'Stop'],
        ];
  return (
    <span className="row wrap">
      <ServerSignIn server={server} isShort={isShort} />
      {wanted.map(([action, label]) => (
        <button
          key={action}
          type="button"
          className={`button${isShort ? ' small quiet' : ''}`}
          aria-label={`${label} ${server.id}`}
          disabled={act.isPending}
          onClick={() => act.mutate(action)}
        >
          {act.isPending && act.variables === action ? '…' : label}
        </button>
      ))}
      {act.error && !isShort ? (
        <span className="err-text" role="alert">
          {messageOf(act.error)}
        </span>
      ) : null}
    </span>
  );
}
