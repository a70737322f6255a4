import { type PointerEvent, useRef, useState } from 'react';
import { useStatistics } from '../statistics/use-statistics';
import { clock, count } from '../text/units';
import { type Range, writeRange } from './range';

interface RateStripProps {
  query: string;
  range: Range;
  onRange(text: string): void;
}

const QUARTER: Range = { kind: 'last', text: '15m', ms: 15 * 60_000 };
const WIDTH = 600;
const HEIGHT = 32;

/** Calls over time, failures on top; dragging over it chooses a range. */
export function RateStrip({ query, range, onRange }: RateStripProps) {
  const shown = range.kind === 'live' || range.kind === 'wrong' ? QUARTER : range;
  const { data } = useStatistics({ by: 'server', query, range: shown, every: 2000, limit: 1 });
  const [drag, setDrag] = useState<{ from: number; to: number }>();
  const box = useRef<SVGSVGElement>(null);
  const { since = 0, until = 1, bucketMs = 1, histogram = [] } = data ?? {};
  const most = Math.max(1, ...histogram.map(({ calls }) => calls));
  const x = (at: number) => ((at - since) / Math.max(1, until - since)) * WIDTH;
  const width = Math.max(1.5, (bucketMs / Math.max(1, until - since)) * WIDTH - 1);
  const timeAt = (event: PointerEvent) => {
    const { left, width: wide } = box.current?.getBoundingClientRect() ?? { left: 0, width: 1 };
    return since + Math.max(0, Math.min(1, (event.clientX - left) / wide)) * (until - since);
  };
  const failures = histogram.reduce((sum, { failed, refused }) => sum + failed + refused, 0);
  const all = histogram.reduce((sum, { calls }) => sum + calls, 0);
  return (
    <svg
      ref={box}
      className="strip"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`${count(all)} calls, ${count(failures)} of them failed or refused, ${range.kind === 'live' ? 'in the last 15 minutes' : 'in the range'}`}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        setDrag({ from: timeAt(event), to: timeAt(event) });
      }}
      onPointerMove={(event) => drag && setDrag({ ...drag, to: timeAt(event) })}
      onPointerUp={() => {
        if (drag && Math.abs(x(drag.to) - x(drag.from)) > 6)
          onRange(writeRange(Math.min(drag.from, drag.to), Math.max(drag.from, drag.to)));
        setDrag(undefined);
      }}
    >
      {histogram.map((bucket) => {
        const bad = bucket.failed + bucket.refused;
        const tall = (calls: number) => (calls === 0 ? 0 : Math.max(2, (calls / most) * (HEIGHT - 2)));
        const good = tall(bucket.calls - bad);
        const failed = tall(bad);
        return (
          <g key={bucket.at}>
            <title>{`${clock(bucket.at).slice(0, 8)}: ${bucket.calls} calls, ${bad} failed or refused`}</title>
            <rect className="good" x={x(bucket.at)} width={width} y={HEIGHT - good} height={good} />
            <rect className="bad" x={x(bucket.at)} width={width} y={HEIGHT - good - failed} height={failed} />
          </g>
        );
      })}
      {drag ? (
        <rect
          className="drag"
          x={Math.min(x(drag.from), x(drag.to))}
          width={Math.abs(x(drag.to) - x(drag.from))}
          y={0}
          height={HEIGHT}
        />
      ) : null}
    </svg>
  );
}
