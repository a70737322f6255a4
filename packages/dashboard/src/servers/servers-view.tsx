import { useState } from 'react';
import { useAddress } from '../address/address';
import { useTitle } from '../shell/title';
import { useStatistics } from '../statistics/use-statistics';
import { PickTable } from '../ui/pick-table';
import { SplitList } from '../ui/split-list';
import { Empty, Failure, Loading } from '../ui/states';
import { ChangedTools } from './changed-tools';
import { ConfigDialog } from './config-dialog';
import { Discovery } from './discovery';
import { FoundServers } from './found-servers';
import { serverColumns } from './server-columns';
import { ServerDetail } from './server-detail';
import { useChangedTools } from './use-changed-tools';
import { type ServerSummary, useServers } from './use-servers';

const HOUR = { kind: 'last', text: '1h', ms: 3_600_000 } as const;

/** Which upstream is unwell, why, and when it is tried again. */
export default function ServersView() {
  const { path, search, go } = useAddress();
  const { data, error, refetch } = useServers();
  const chosen = path.startsWith('/servers/')
    ? decodeURIComponent(path.slice('/servers/'.length))
    : undefined;
  const [isAdding, setAdding] = useState(false);
  const { data: stats } = useStatistics({ by: 'server', range: HOUR, every: 5000 });
  const changed = useChangedTools();
  useTitle('Servers');
  const words = (search.find ?? '').toLowerCase();
  const servers =
    data?.servers.filter(({ id, state }) => `${id} ${state}`.toLowerCase().includes(words)) ?? [];
  const figures = new Map(stats?.groups.map((group) => [group.server ?? '', group]));
  const held = (id: string) => changed.filter(({ server, blocked }) => server === id && !blocked).length;
  const columns = serverColumns({ figureOf: ({ id }) => figures.get(id), held });
  return (
    <div className="split">
      <SplitList
        title="Servers"
        find="Find servers"
        actions={
          <>
            <button type="button" className="button" onClick={() => setAdding(true)}>
              Add a server…
            </button>
            <Discovery />
          </>
        }
      >
        <p className="dim">{data ? summary(data.servers) : ''}</p>
        {data?.faults.map((fault) => (
          <p className="note err" key={fault}>
            {fault}
          </p>
        ))}
        {error && !data ? <Failure error={error} retry={() => void refetch()} /> : null}
        {!data && !error ? <Loading what="servers" /> : null}
        {data && data.servers.length === 0 ? (
          <Empty title="No servers yet">
            <p>Add one here, or take over what other clients of this machine have.</p>
            <FoundServers known={[]} />
          </Empty>
        ) : null}
        {servers.length > 0 ? (
          <PickTable
            columns={columns}
            rows={servers}
            keyOf={({ id }) => id}
            chosen={chosen}
            onPick={({ id }) => go(`/servers/${encodeURIComponent(id)}`, search)}
          />
        ) : null}
        {data && servers.length === 0 && words !== '' ? (
          <p className="said">No server is called so.</p>
        ) : null}
        {chosen === undefined && changed.length > 0 ? <ChangedTools changed={changed} /> : null}
      </SplitList>
      {chosen === undefined ? null : (
        <ServerDetail
          id={chosen}
          summary={data?.servers.find(({ id }) => id === chosen)}
          onClose={() => go('/servers')}
        />
      )}
      {isAdding ? <ConfigDialog id={undefined} onClose={() => setAdding(false)} /> : null}
    </div>
  );
}

function summary(servers: readonly ServerSummary[]): string {
  const states = new Map<string, number>();
  for (const { state } of servers) states.set(state, (states.get(state) ?? 0) + 1);
  return [`${servers.length} servers`, ...[...states].map(([state, many]) => `${many} ${state}`)].join(' · ');
}
