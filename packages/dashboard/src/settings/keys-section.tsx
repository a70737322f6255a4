import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useAddress } from '../address/address';
import { messageOf, request } from '../net/request';
import { inert } from '../text/inert';
import { relative, wholeTime } from '../text/units';
import { NewKey } from './new-key';

/** One of `GET /api/keys`. */
export interface Key {
  id: string;
  name: string;
  admin: boolean;
  tools?: { allow?: string[]; deny?: string[]; approve?: string[] };
  folders?: { path: string }[];
  createdAt: string;
  expiresAt?: string;
  lastUsedAt?: string;
}

/** Who else may come in, what each may do at most, and the end of it. */
export function KeysSection() {
  const [isMaking, setMaking] = useState(false);
  const { data, error } = useQuery({
    queryKey: ['keys'],
    queryFn: () => request<{ keys: Key[] }>('/api/keys'),
    refetchInterval: 10_000,
  });
  const keys = data?.keys ?? [];
  return (
    <section aria-label="Keys" className="stack">
      <h2>Keys</h2>
      <p>
        A key lets somebody else in, as far as it says and no further: it sees its own sessions and calls
        alone. Your own token is not among them; it may do everything.
      </p>
      {keys.length > 0 ? (
        <ul className="stack plain-set" aria-label="Known keys">
          {keys.map((key) => (
            <KeyRow key={key.id} shown={key} />
          ))}
        </ul>
      ) : null}
      <div className="row">
        <button type="button" className="button" onClick={() => setMaking(true)}>
          New key…
        </button>
        {data && keys.length === 0 ? <span className="dim">There is none yet.</span> : null}
      </div>
      {error ? (
        <p className="note err" role="alert">
          {messageOf(error)}
        </p>
      ) : null}
      {isMaking ? <NewKey onClose={() => setMaking(false)} /> : null}
    </section>
  );
}

function KeyRow({ shown }: { shown: Key }) {
  const { id, name, expiresAt, lastUsedAt } = shown;
  const queries = useQueryClient();
  const { go } = useAddress();
  const [isSure, setSure] = useState(false);
  const revoke = useMutation({
    mutationFn: () => request(`/api/keys/${encodeURIComponent(id)}`, { method: 'DELETE' }),
    onSuccess: () =>
      Promise.all(['keys', 'sessions'].map((key) => queries.invalidateQueries({ queryKey: [key] }))),
  });
  const isOver = expiresAt !== undefined && Date.parse(expiresAt) <= Date.now();
  return (
    <li className="row wrap">
      <strong>{inert(name)}</strong>
      <span className="dim grow">
        <code>{inert(rightsOf(shown))}</code>
        {' · '}
        {lastUsedAt ? (
          <span title={wholeTime(Date.parse(lastUsedAt))}>last use {relative(Date.parse(lastUsedAt))}</span>
        ) : (
          'never used'
        )}
        {expiresAt ? ` · ${isOver ? 'ended' : 'ends'} ${relative(Date.parse(expiresAt))}` : ''}
      </span>
      <button type="button" className="button" onClick={() => go('/', { q: `principal:key:${id}` })}>
        Its calls
      </button>
      {isSure ? (
        <button
          type="button"
          className="button danger"
          disabled={revoke.isPending}
          onClick={() => revoke.mutate()}
        >
          Revoke {inert(name)} and end its sessions
        </button>
      ) : (
        <button type="button" className="button" onClick={() => setSure(true)}>
          Revoke
        </button>
      )}
      {revoke.error ? (
        <p className="err-text" role="alert">
          {messageOf(revoke.error)}
        </p>
      ) : null}
    </li>
  );
}

function rightsOf({ admin, tools = {}, folders = [] }: Key): string {
  if (admin) return 'all that you may';
  const { allow, deny = [], approve = [] } = tools;
  return [
    allow ? allow.join(', ') || 'no tools' : 'all tools',
    ...(deny.length > 0 ? [`not ${deny.join(', ')}`] : []),
    ...(approve.length > 0 ? [`with a yes ${approve.join(', ')}`] : []),
    ...folders.map(({ path }) => path),
  ].join(' · ');
}
