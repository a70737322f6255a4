import { useMutation, useQueryClient } from '@tanstack/react-query';
import { messageOf, request } from '../net/request';
import type { ServerSummary } from './use-servers';

/** Signs in at a server, in this tab: its login service sends the browser back. Out again only where there is room to ask for it. */
export function ServerSignIn({ server, isShort = false }: { server: ServerSummary; isShort?: boolean }) {
  const queries = useQueryClient();
  const { id, sign_in: signIn } = server;
  const enter = useMutation({
    mutationFn: () =>
      request<{ authorization_url: string }>('/api/oauth/start', { method: 'POST', body: { server: id } }),
    onSuccess: ({ authorization_url: address }) => {
      if (/^https?:\/\//.test(address)) window.location.assign(address);
    },
  });
  const leave = useMutation({
    mutationFn: () => request('/api/oauth/logout', { method: 'POST', body: { server: id } }),
    onSettled: () => {
      void queries.invalidateQueries({ queryKey: ['servers'] });
      void queries.invalidateQueries({ queryKey: ['server', id] });
    },
  });
  if (!signIn || signIn.grant === 'client_credentials') return null;
  const isIn = signIn.state === 'signed_in';
  if (isIn && isShort) return null;
  const { label, act } = isIn ? { label: 'Sign out', act: leave } : { label: 'Sign in', act: enter };
  return (
    <>
      <button
        type="button"
        className={`button${isIn ? '' : ' primary'}${isShort ? ' small' : ''}`}
        aria-label={`${label} ${id}`}
        disabled={act.isPending}
        onClick={() => act.mutate()}
      >
        {act.isPending ? '…' : label}
      </button>
      {act.error ? (
        <span className="err-text" role="alert">
          {messageOf(act.error)}
        </span>
      ) : null}
    </>
  );
}
