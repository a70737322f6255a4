import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { request } from '../net/request';
import { Dialog } from '../ui/dialog';

interface Job {
  job_id: string;
  status: string;
  servers: {
    id: string;
    status?: string;
    outcome?: string;
    tools?: number;
    error?: string;
    reason?: string;
    faults?: string[];
  }[];
}

/** Lists the tools of all servers anew and tells each outcome as it comes. */
export function Discovery() {
  const queries = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  const begin = useMutation({
    mutationFn: () => request<Job>('/api/mcp-config/discover', { method: 'POST' }),
  });
  const id = begin.data?.job_id;
  const { data } = useQuery({
    queryKey: ['discovery', id],
    queryFn: () => request<Job>(`/api/mcp-config/discover/${id}`),
    enabled: id !== undefined && isOpen,
    refetchInterval: ({ state }) => (state.data && state.data.status !== 'running' ? false : 300),
  });
  const isOver = data !== undefined && data.status !== 'running';
  useEffect(() => {
    if (isOver) void queries.invalidateQueries({ queryKey: ['servers'] });
  }, [isOver, queries]);
  return (
    <>
      <button
        type="button"
        className="button"
        onClick={() => {
          setOpen(true);
          begin.mutate();
        }}
      >
        Discover
      </button>
      {isOpen ? (
        <Dialog
          title={isOver ? 'All servers were listed anew' : 'Listing all servers …'}
          onClose={() => setOpen(false)}
        >
          <ul className="stack">
            {(data ?? begin.data)?.servers.map((server) => {
              const outcome = server.status ?? server.outcome ?? '';
              return (
                <li key={server.id}>
                  <p className="row">
                    <span
                      className={`st ${outcome === 'ok' ? 'ok' : outcome === 'running' || outcome === '' ? 'running' : outcome === 'disabled' ? 'cancelled' : 'failed'}`}
                      aria-hidden
                    />
                    <span className="mono grow">{server.id}</span>
                    <span className="dim">
                      {outcome === 'ok' ? `${server.tools ?? 0} tools` : outcome || 'running'}
                    </span>
                  </p>
                  {server.error || server.reason || server.faults?.length ? (
                    <p className="err-text">{server.error ?? server.reason ?? server.faults?.join(' ')}</p>
                  ) : null}
                </li>
              );
            })}
          </ul>
        </Dialog>
      ) : null}
    </>
  );
}
