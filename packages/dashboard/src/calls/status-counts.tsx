import { useQuery } from '@tanstack/react-query';
import { count } from '../text/units';
import { statusCounts } from './counts';
import { hasTerm, withOnly } from './filter-words';
import type { Range } from './range';

const SHOWN = [
  ['failed', 'failed'],
  ['refused', 'refused'],
  ['waiting', 'waiting'],
  ['running', 'running'],
  ['cancelled', 'cancelled'],
] as const;

interface StatusCountsProps {
  query: string;
  range: Range;
  onChange(query: string, how: { replace: boolean }): void;
}

/** Counts over the whole log; each filters. */
export function StatusCounts({ query, range, onChange }: StatusCountsProps) {
  const base = withOnly(query, 'status', undefined);
  const { data } = useQuery({
    queryKey: ['counts', 'status', base, range],
    queryFn: () => statusCounts(base, range),
    refetchInterval: 2000,
    placeholderData: (before) => before,
  });
  const of = (status: string) => data?.get(status) ?? 0;
  const all = data && [...data.values()].reduce((sum, calls) => sum + calls, 0);
  return (
    <div className="counts row wrap" role="group" aria-label="Counts; each filters">
      <button
        type="button"
        className="button quiet small"
        aria-pressed={base === query}
        onClick={() => onChange(base, { replace: false })}
      >
        <strong>{all === undefined ? '…' : count(all)}</strong> calls
      </button>
      {SHOWN.map(([status, word]) => {
        const calls = of(status);
        const isOn = hasTerm(query, 'status', status);
        if (calls === 0 && !isOn) return null;
        return (
          <button
            key={status}
            type="button"
            className={`button quiet small tone-${status}`}
            aria-pressed={isOn}
            onClick={() => onChange(withOnly(query, 'status', isOn ? undefined : status), { replace: false })}
          >
            <span className={`st ${status}`} aria-hidden />
            <strong>{count(calls)}</strong> {word}
          </button>
        );
      })}
    </div>
  );
}
