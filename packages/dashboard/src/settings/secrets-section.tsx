import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { messageOf, request } from '../net/request';
import { relative } from '../text/units';

interface Secret {
  name: string;
  changedAt: string;
  usable: boolean;
  servers: string[];
}

/** What `${secret:NAME}` in the configuration stands for: names alone, since no value can be read back. */
export function SecretsSection() {
  const queries = useQueryClient();
  const [name, setName] = useState('');
  const [value, setValue] = useState('');
  const [deleting, setDeleting] = useState('');
  const { data, error } = useQuery({
    queryKey: ['secrets'],
    queryFn: () => request<{ secrets: Secret[] }>('/api/secrets'),
  });
  const onSuccess = () => {
    setValue('');
    setDeleting('');
    return Promise.all(['secrets', 'servers'].map((key) => queries.invalidateQueries({ queryKey: [key] })));
  };
  const set = useMutation({
    mutationFn: () => request<Secret>('/api/secrets', { method: 'POST', body: { name, value } }),
    onSuccess,
    gcTime: 0,
  });
  const remove = useMutation({
    mutationFn: (gone: string) => request(`/api/secrets/${encodeURIComponent(gone)}`, { method: 'DELETE' }),
    onSuccess,
  });
  const secrets = data?.secrets ?? [];
  const replaces = secrets.some((secret) => secret.name === name);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    set.mutate();
  };
  const failure = error ?? set.error ?? remove.error;
  return (
    <section aria-label="Secrets" className="stack">
      <h2>Secrets</h2>
      <p>
        A server's entry names one as <code>{'${secret:NAME}'}</code>. A value is kept sealed and never shown
        again; a new one starts the servers that use it anew, at once.
      </p>
      {secrets.length > 0 ? (
        <ul className="stack plain-set" aria-label="Known secrets">
          {secrets.map((secret) => (
            <li key={secret.name} className="row wrap">
              <code>{secret.name}</code>
              <span className="dim grow">
                {secret.usable
                  ? `set ${relative(Date.parse(secret.changedAt))}`
                  : 'sealed with another key: set it anew'}
                {secret.servers.length > 0 ? `, used by ${secret.servers.join(', ')}` : ', not used'}
              </span>
              <button type="button" className="button" onClick={() => setName(secret.name)}>
                Replace
              </button>
              {deleting === secret.name ? (
                <button type="button" className="button danger" onClick={() => remove.mutate(secret.name)}>
                  Delete {secret.name} for good
                </button>
              ) : (
                <button type="button" className="button" onClick={() => setDeleting(secret.name)}>
                  Delete
                </button>
              )}
            </li>
          ))}
        </ul>
      ) : null}
      <form className="row wrap fields" onSubmit={submit} autoComplete="off">
        <label>
          <span className="label">Name of the secret</span>
          <input
            className="field mono"
            value={name}
            required
            autoComplete="off"
            onChange={({ target }) => setName(target.value)}
          />
        </label>
        <label>
          <span className="label">Its value</span>
          <input
            className="field mono covered"
            autoComplete="off"
            spellCheck={false}
            value={value}
            required
            onChange={({ target }) => setValue(target.value)}
          />
        </label>
        <button type="submit" className="button primary" disabled={set.isPending}>
          {replaces ? 'Replace it' : 'Add it'}
        </button>
      </form>
      {set.data && value === '' ? <p role="status">{set.data.name} is set.</p> : null}
      {failure ? (
        <p className="note err" role="alert">
          {messageOf(failure)}
        </p>
      ) : null}
    </section>
  );
}
