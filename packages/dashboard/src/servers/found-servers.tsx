import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { messageOf, request } from '../net/request';
import { inert } from '../text/inert';

interface ClientFile {
  client: string;
  file: string;
  servers: Record<string, unknown>;
}

/** Servers that other clients of the orchestrator's machine have and we do not, to be taken over. */
export function FoundServers({ known }: { known: readonly string[] }) {
  const { data, isPending } = useQuery({
    queryKey: ['config', 'clients'],
    queryFn: () => request<{ clients: ClientFile[] }>('/api/mcp-config/clients'),
  });
  const found = (data?.clients ?? [])
    .map((each) => ({ ...each, names: Object.keys(each.servers).filter((name) => !known.includes(name)) }))
    .filter(({ names }) => names.length > 0);
  if (found.length === 0)
    return known.length > 0 || isPending ? null : (
      <p className="dim">No configuration of another client was found where the orchestrator runs.</p>
    );
  return (
    <section aria-label="Found on this machine" className="stack found">
      <h3>Found on this machine</h3>
      {found.map((each) => (
        <OneClient key={each.file} {...each} />
      ))}
    </section>
  );
}

function OneClient({ client, file, names, servers }: ClientFile & { names: string[] }) {
  const queries = useQueryClient();
  const [left, setLeft] = useState<string[]>([]);
  const chosen = names.filter((name) => !left.includes(name));
  const take = useMutation({
    mutationFn: () => request('/api/mcp-config/clients', { method: 'POST', body: { file, servers: chosen } }),
    onSuccess: () =>
      Promise.all(
        ['config', 'servers', 'tools'].map((key) => queries.invalidateQueries({ queryKey: [key] })),
      ),
  });
  return (
    <fieldset className="stack plain-set">
      <legend>
        {client} <code className="dim">{inert(file)}</code>
      </legend>
      {names.map((name) => (
        <label key={name} className="row">
          <input
            type="checkbox"
            checked={!left.includes(name)}
            onChange={({ target }) =>
              setLeft((now) => (target.checked ? now.filter((other) => other !== name) : [...now, name]))
            }
          />
          <strong>{inert(name)}</strong> <code className="dim">{inert(wordsOf(servers[name]))}</code>
        </label>
      ))}
      <div className="row">
        <button
          type="button"
          className="button"
          disabled={chosen.length === 0 || take.isPending}
          onClick={() => take.mutate()}
        >
          Take over {chosen.length === 1 ? '1 server' : `${chosen.length} servers`}
        </button>
      </div>
      {take.error ? (
        <p className="note err" role="alert">
          {messageOf(take.error)}
        </p>
      ) : null}
    </fieldset>
  );
}

/** What would run, or where it is. */
function wordsOf(entry: unknown): string {
  const { command, args, url, httpUrl } = (entry ?? {}) as Record<string, unknown>;
  const words = [command ?? url ?? httpUrl ?? '', ...(Array.isArray(args) ? args : [])].map(String).join(' ');
  return words.length > 120 ? `${words.slice(0, 119)}…` : words;
}
