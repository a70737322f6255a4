import type { CallDetails } from '@mcpbridge/shared/call-row.js';
import { useQueries } from '@tanstack/react-query';
import { request } from '../net/request';
import { clock, duration } from '../text/units';
import { Failure, Loading } from '../ui/states';
import { STATUS_WORDS, StatusMark } from '../ui/status-mark';
import { ChangeList } from './change-list';

/** Arguments, result and timing of two calls, the earlier one first. */
export default function Comparison({ ids }: { ids: readonly [string, string] }) {
  const [one, other] = useQueries({
    queries: [...ids]
      .sort()
      .map((id) => ({ queryKey: ['whole', id], queryFn: () => whole(id), retry: false })),
  });
  if (one?.error || other?.error) return <Failure error={one?.error ?? other?.error} />;
  if (!one?.data || !other?.data) return <Loading what="both calls" />;
  const [before, after] = [one.data, other.data];
  return (
    <div className="stack">
      <div className="scroll-x">
        <table className="table">
          <thead>
            <tr>
              <th />
              <th>Outcome</th>
              <th>Tool</th>
              <th className="num">Duration</th>
              <th>Started</th>
            </tr>
          </thead>
          <tbody>
            {[before, after].map((call, index) => (
              <tr key={call.id}>
                <td>{index === 0 ? 'earlier' : 'later'}</td>
                <td>
                  <span className="row">
                    <StatusMark status={call.status} /> {STATUS_WORDS[call.status]}
                  </span>
                </td>
                <td className="mono">
                  {call.server} · {call.tool}
                </td>
                <td className="num">{call.ms === undefined ? '' : duration(call.ms)}</td>
                <td>{clock(call.at)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <ChangeList title="Arguments" was={before.arguments} is={after.arguments} />
      <ChangeList title="Result" was={comparable(before)} is={comparable(after)} />
      <ChangeList title="Timing" was={rounded(before)} is={rounded(after)} />
    </div>
  );
}

async function whole(id: string): Promise<CallDetails> {
  const path = `/api/calls/${encodeURIComponent(id)}`;
  const call = await request<CallDetails>(path);
  if (call.result !== undefined || !call.resultKept) return call;
  return { ...call, result: await request(`${path}/result`) };
}

const comparable = ({ result, message }: CallDetails) =>
  result ?? (message === undefined ? null : { message });

function rounded({ timing, ms }: CallDetails): unknown {
  const all = { ...timing, all: ms ?? 0 };
  return Object.fromEntries(Object.entries(all).map(([key, value]) => [key, `${Math.round(value)} ms`]));
}
