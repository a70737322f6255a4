import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useMemo, useState } from 'react';
import { ChangeList } from '../calls/change-list';
import { messageOf, RequestError, request } from '../net/request';
import { inert } from '../text/inert';
import CodeEditor, { type TextFault } from '../ui/code-editor';
import { Failure, Loading } from '../ui/states';
import { ServerState } from './server-state';
import { useServers } from './use-servers';

type Servers = Record<string, unknown>;

const EXAMPLE = {
  'my-server': {
    command: 'npx',
    args: ['-y', '@modelcontextprotocol/server-everything'],
    env: { API_KEY: '${API_KEY}' },
  },
};

/** The entry of one server, or of new ones: checked while it is typed, shown as a difference before it is saved. */
export default function ConfigEditor({ id }: { id: string | undefined }) {
  const { data, error } = useQuery({
    queryKey: ['config'],
    queryFn: () => request<{ mcpServers: Servers }>('/api/mcp-config'),
    staleTime: 0,
    refetchOnWindowFocus: false,
  });
  if (error) return <Failure error={error} />;
  if (!data) return <Loading what="the configuration" />;
  return <Editing id={id} stored={data.mcpServers} />;
}

function Editing({ id, stored }: { id: string | undefined; stored: Servers }) {
  const queries = useQueryClient();
  const [before, setBefore] = useState<Servers>(() => (id === undefined ? {} : { [id]: stored[id] }));
  const [text, setText] = useState(() => JSON.stringify(id === undefined ? EXAMPLE : before, null, 2));
  const [faults, setFaults] = useState<TextFault[]>();
  const [isReviewing, setReviewing] = useState(false);
  const [savedAt, setSavedAt] = useState(0);
  const others = useMemo(() => {
    const { [id ?? '']: _, ...rest } = stored;
    return rest;
  }, [stored, id]);
  const edited = useMemo(() => parsed(text), [text]);
  const check = useCallback(
    async (typed: string) => {
      const found = await faultsOf(typed, others);
      setFaults(found);
      return found;
    },
    [others],
  );
  const save = useMutation({
    mutationFn: (servers: Servers) =>
      request('/api/mcp-config', { method: 'POST', body: { mcpServers: { ...others, ...servers } } }),
    onSuccess: (_, servers) => {
      setSavedAt(Date.now());
      setBefore(servers);
      setReviewing(false);
      for (const key of ['config', 'servers', 'server', 'tools'])
        void queries.invalidateQueries({ queryKey: [key] });
    },
  });
  const change = (next: string) => {
    setText(next);
    setFaults(undefined);
    setReviewing(false);
    save.reset();
  };
  const isSame = edited !== undefined && JSON.stringify(edited) === JSON.stringify(before);
  const isGood = edited !== undefined && faults !== undefined && faults.length === 0 && !isSame;
  return (
    <div className="stack">
      <p className="dim">
        Secrets are shown as <code>********</code> and stay what they are. <code>{'${NAME}'}</code> is taken
        from the environment.
      </p>
      <CodeEditor value={text} label="Configuration" onChange={change} check={check} />
      {faults?.map(({ message }) => (
        <p className="err-text" role="alert" key={message}>
          {inert(message)}
        </p>
      ))}
      {isReviewing && edited ? (
        <>
          <ChangeList title="What would change" was={before} is={edited} />
          <div className="row">
            <button
              type="button"
              className="button primary"
              disabled={save.isPending || !isGood}
              onClick={() => save.mutate(edited)}
            >
              {save.isPending ? 'Saving …' : 'Save'}
            </button>
            <button type="button" className="button" onClick={() => setReviewing(false)}>
              Go on editing
            </button>
          </div>
        </>
      ) : (
        <div className="row">
          <button type="button" className="button" disabled={!isGood} onClick={() => setReviewing(true)}>
            Review, save…
          </button>
          <span className="dim">
            {edited === undefined
              ? 'This is no JSON object yet.'
              : isSame
                ? 'Nothing is changed.'
                : faults === undefined
                  ? 'Checking …'
                  : faults.length > 0
                    ? 'It cannot be saved like this.'
                    : 'It can be saved.'}
          </span>
        </div>
      )}
      {save.error ? (
        <p className="note err" role="alert">
          {messageOf(save.error)}
        </p>
      ) : null}
      {save.isSuccess ? <Outcomes ids={Object.keys(save.variables)} since={savedAt} /> : null}
    </div>
  );
}

/** What became of each saved server, as it comes. */
function Outcomes({ ids, since }: { ids: readonly string[]; since: number }) {
  const { data, dataUpdatedAt } = useServers();
  // What was known before is not what became of it.
  const saved =
    dataUpdatedAt > since ? (data?.servers.filter((server) => ids.includes(server.id)) ?? []) : [];
  return (
    <section className="note" aria-label="Saved" role="status">
      <p>Saved.</p>
      <ul>
        {saved.map((server) => (
          <li className="row wrap" key={server.id}>
            <code>{inert(server.id)}</code> <ServerState server={server} />
            <span className="dim">
              {server.reason ?? server.faults?.join(' ') ?? `${server.tools} tools`}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function parsed(text: string): Servers | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Servers)
      : undefined;
  } catch {
    return undefined; // It is being typed.
  }
}

/** The orchestrator's own check, without saving. */
async function faultsOf(text: string, others: Servers): Promise<TextFault[]> {
  const edited = parsed(text);
  if (!edited) return [{ at: undefined, message: 'This must be an object: {"name": {"command": …}}.' }];
  try {
    const { faults } = await request<{ faults: string[] }>('/api/mcp-config?check=true', {
      method: 'POST',
      body: { mcpServers: { ...others, ...edited } },
    });
    return faults.map((message) => ({ at: wordOf(message, text), message }));
  } catch (error) {
    if (error instanceof RequestError && error.status === 400)
      return [{ at: undefined, message: error.message }];
    throw error;
  }
}

/** The most telling word of a fault that stands in the text: the last part of the field it names, else the server. */
function wordOf(message: string, text: string): string | undefined {
  const [, server, rest = ''] = /^"([^"]+)": (.*)$/s.exec(message) ?? [undefined, undefined, message];
  const named = [...rest.matchAll(/"([^"]+)"/g)].flatMap(([, name = '']) => [
    name,
    ...name.split('.').reverse(),
  ]);
  return [...named, ...(server ? [server] : [])].find((word) => text.includes(JSON.stringify(word)));
}
