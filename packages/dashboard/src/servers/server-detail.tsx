import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { X } from 'lucide-react';
import { lazy, Suspense } from 'react';
import { liveLink, stringifySearch, useAddress } from '../address/address';
import { request } from '../net/request';
import { stripAnsi } from '../text/ansi';
import { inert } from '../text/inert';
import { InertText } from '../text/inert-text';
import { relative } from '../text/units';
import { Failure, Loading } from '../ui/states';
import { Tabs } from '../ui/tabs';
import { ChangedTools } from './changed-tools';
import { Output } from './output';
import { ServerActions } from './server-actions';
import { ServerState } from './server-state';
import { useChangedTools } from './use-changed-tools';
import type { ServerSummary } from './use-servers';

const ConfigEditor = lazy(() => import('./config-editor'));

interface ServerDetails extends ServerSummary {
  tool_names?: string[];
  set_aside?: { name?: string; tool?: string; reason: string }[];
  bounded?: { what: string; reason: string; times: number }[];
  stderr?: string[];
}

interface ServerDetailProps {
  id: string;
  summary: ServerSummary | undefined;
  onClose(): void;
}

export function ServerDetail({ id, summary, onClose }: ServerDetailProps) {
  const { search, set } = useAddress();
  const { data, error, refetch } = useQuery({
    queryKey: ['server', id],
    queryFn: () => request<ServerDetails>(`/api/servers/${encodeURIComponent(id)}`),
    refetchInterval: 2000,
  });
  const changed = useChangedTools().filter(({ server }) => server === id);
  const server = summary ?? data;
  const tabs = [
    { id: 'why', label: 'Why' },
    { id: 'tools', label: 'Tools', badge: data?.tools },
    { id: 'output', label: 'Output' },
    { id: 'config', label: 'Config' },
    ...(changed.length > 0 ? [{ id: 'changes', label: 'Changes', badge: changed.length }] : []),
  ].map(({ badge, ...tab }) => (badge === undefined ? tab : { ...tab, badge }));
  const chosen = tabs.some((tab) => tab.id === search.tab) ? (search.tab as string) : 'why';
  return (
    <aside className="split-detail" aria-label={`Server ${id}`}>
      <header className="panel-head row">
        <div className="grow">
          <h2 className="mono">{inert(id)}</h2>
          {server ? <ServerState server={server} /> : null}
        </div>
        {server ? <ServerActions server={server} /> : null}
        <button type="button" className="icon-button" aria-label="Close the server" onClick={onClose}>
          <X size={16} strokeWidth={1.5} aria-hidden />
        </button>
      </header>
      <div className="panel-body">
        {error ? <Failure error={error} retry={() => void refetch()} /> : null}
        <Tabs
          label="Of this server"
          tabs={tabs}
          chosen={chosen}
          onChoose={(tab) => set({ tab: tab === 'why' ? undefined : tab }, { replace: true })}
        >
          {chosen === 'why' ? <Why server={data ?? server} /> : null}
          {chosen === 'tools' ? <ToolNames details={data} /> : null}
          {chosen === 'output' ? <Output lines={data?.stderr ?? []} /> : null}
          {chosen === 'changes' ? <ChangedTools changed={changed} /> : null}
          {chosen === 'config' ? (
            <Suspense fallback={<Loading what="the editor" />}>
              <ConfigEditor key={id} id={id} />
            </Suspense>
          ) : null}
        </Tabs>
        <p>
          <Link to={liveLink(`server:${id}`) as never}>Its calls</Link>
        </p>
      </div>
    </aside>
  );
}

function Why({ server }: { server: (ServerSummary & Partial<ServerDetails>) | undefined }) {
  if (!server) return <Loading what="the server" />;
  const last = server.stderr?.at(-1);
  const facts: [string, React.ReactNode][] = [
    ['State', server.state],
    ...(server.reason
      ? ([['Reason', <InertText key="r" text={server.reason} />]] as [string, React.ReactNode][])
      : []),
    ...(server.faults?.length ? ([['Faults', server.faults.join(' ')]] as [string, React.ReactNode][]) : []),
    ...(server.retryAt ? ([['Next try', relative(server.retryAt)]] as [string, React.ReactNode][]) : []),
    ...(last
      ? ([
          [
            'Last line',
            <code key="l">
              <InertText text={stripAnsi(last)} />
            </code>,
          ],
        ] as [string, React.ReactNode][])
      : []),
    ['Transport', server.transport ?? 'none'],
    ['Isolation', server.isolation === 'shared' ? 'shared by all sessions' : 'each session has its own'],
    ['From', server.origin],
    ...(server.description
      ? ([['Description', <InertText key="d" text={server.description} />]] as [string, React.ReactNode][])
      : []),
  ];
  return (
    <div className="stack">
      <dl className="facts">
        {facts.map(([name, value]) => [<dt key={`${name}-name`}>{name}</dt>, <dd key={name}>{value}</dd>])}
      </dl>
      {server.bounded?.map(({ what, reason, times }) => (
        <p className="note wait" key={what}>
          {times} times too much: {inert(reason)}
        </p>
      ))}
      {server.state === 'ready' && !server.reason ? (
        <p className="said">It is well: its last calls and lists were answered.</p>
      ) : null}
    </div>
  );
}

function ToolNames({ details }: { details: ServerDetails | undefined }) {
  if (!details) return <Loading what="its tools" />;
  const { tool_names: names = [], set_aside: aside = [] } = details;
  return (
    <div className="stack">
      <ul>
        {names.map((name) => (
          <li key={name}>
            <Link className="mono" to={`/tools${stringifySearch({ tool: name })}` as never}>
              {inert(name)}
            </Link>
          </li>
        ))}
      </ul>
      {names.length === 0 ? <p className="said">It offers no tools.</p> : null}
      {aside.map(({ name, tool, reason }) => (
        <p className="note wait" key={name ?? tool}>
          <code>{inert(String(name ?? tool))}</code> is hidden: {inert(reason)}
        </p>
      ))}
    </div>
  );
}
