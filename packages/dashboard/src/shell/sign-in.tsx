import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { messageOf, request } from '../net/request';

/** Why somebody is here again, by the address. */
const FAULTS: Record<string, string> = {
  void: 'That link or login was used already or is too old. Each is good once.',
  rights: 'The login service knows you, but you may do nothing here. Ask whoever runs this.',
};

/** Nobody is let in yet: the printed link does it by itself, the token does it here. */
export function SignIn({ onDone }: { onDone(): void }) {
  const how = new URLSearchParams(window.location.search).get('login') ?? '';
  const [fault, setFault] = useState(FAULTS[how]);
  const ways = useQuery({
    queryKey: ['login', 'ways'],
    queryFn: () => request<{ oidc: boolean }>('/api/login/ways'),
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const field = event.currentTarget.elements.namedItem('token') as HTMLInputElement;
    request('/api/login', { method: 'POST', body: { token: field.value.trim() } }).then(onDone, (error) =>
      setFault(messageOf(error)),
    );
  };
  return (
    <main className="empty sign-in">
      <h1>Orchestrator</h1>
      {ways.data?.oidc ? (
        <p>
          <a className="button primary" href="/login/oidc">
            Come in with your account
          </a>
        </p>
      ) : null}
      <p>
        Open the link that the orchestrator printed when it started. Or give its token, which is in{' '}
        <code>~/.mcpbridge/token</code> on its machine:
      </p>
      <form className="row" onSubmit={submit}>
        <input hidden name="user" autoComplete="username" defaultValue="owner" readOnly />
        <input
          className="field grow"
          name="token"
          type="password"
          aria-label="Token"
          autoComplete="current-password"
          required
        />
        <button type="submit" className="button primary">
          Come in
        </button>
      </form>
      {fault ? (
        <p className="note err" role="alert">
          {fault}
        </p>
      ) : null}
    </main>
  );
}
