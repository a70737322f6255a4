import type { CallStatistics } from '@mcpbridge/shared/call-statistics.js';
import { useMemo } from 'react';
import { count, duration } from '../text/units';
import { Chart } from './chart';

interface OverTimeProps {
  data: CallStatistics;
  onRange(from: number, to: number): void;
}

/** How many calls, and how long they took, over the chosen time. */
export function OverTime({ data, onRange }: OverTimeProps) {
  const { histogram, bucketMs, total } = data;
  const times = useMemo(() => histogram.map(({ at }) => at / 1000), [histogram]);
  const outcomes = useMemo(() => {
    const rate = (value: number) => (value * 1000) / bucketMs;
    return [
      { label: 'ok', colour: '--s1', fill: true, values: histogram.map(({ ok }) => rate(ok)) },
      { label: 'failed', colour: '--err', values: histogram.map(({ failed }) => rate(failed)) },
      { label: 'refused', colour: '--deny', values: histogram.map(({ refused }) => rate(refused)) },
    ];
  }, [histogram, bucketMs]);
  const times95 = useMemo(
    () =>
      (['p50', 'p95', 'p99'] as const).map((key, index) => ({
        label: key,
        colour: `--s${[1, 2, 4][index]}`,
        values: histogram.map((bucket) => bucket[key] ?? null),
      })),
    [histogram],
  );
  return (
    <div className="charts">
      <Chart
        title="Calls a second, by outcome"
        sentence={`${count(total.calls)} calls, ${count(total.failed)} failed, ${count(total.refused)} refused`}
        times={times}
        lines={outcomes}
        show={(value) => (value >= 100 ? Math.round(value).toString() : String(Number(value.toPrecision(2))))}
        onRange={onRange}
      />
      <Chart
        title="Duration"
        sentence={
          total.p95 === undefined
            ? 'No durations'
            : `half within ${duration(total.p50 ?? 0)}, 95 % within ${duration(total.p95)}`
        }
        times={times}
        lines={times95}
        show={duration}
        onRange={onRange}
      />
    </div>
  );
}
