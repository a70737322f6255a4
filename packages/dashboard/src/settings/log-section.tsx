import { useQuery } from '@tanstack/react-query';
import { useFeed } from '../calls/feeds';
import { request } from '../net/request';
import { bytes, count, duration } from '../text/units';
import { Failure } from '../ui/states';

/** As the setting counts. */
const GIB = 1024 ** 3;

interface Kept {
  ageMs: number;
  bytes: number;
  used: number;
}

/** How much of the past there is, and what of it was lost. */
export function LogSection() {
  const { state } = useFeed();
  const { data, error } = useQuery({
    queryKey: ['kept'],
    queryFn: () => request<Kept>('/api/calls/kept'),
    refetchInterval: 10_000,
  });
  return (
    <section aria-label="Log" className="stack">
      <h2>Log</h2>
      {error && !data ? <Failure error={error} /> : null}
      {data ? (
        <p>
          Calls are kept {limits(data)}; {bytes(data.used)} used. <span className="dim">Set by</span>{' '}
          <code>CALL_LOG_AGE</code> <span className="dim">and</span> <code>CALL_LOG_SIZE</code>
          <span className="dim">, at the next start.</span>
        </p>
      ) : null}
      <p>Records lost since the start: {count(state.lost)}</p>
    </section>
  );
}

function limits({ ageMs, bytes: most }: Kept): string {
  const parts = [
    ageMs > 0 ? `for ${duration(ageMs)}` : '',
    most > 0 ? `in ${most % GIB === 0 ? `${most / GIB} GiB` : bytes(most)}` : '',
  ].filter(Boolean);
  return parts.join(' or ') || 'for good';
}
