import { useEffect, useMemo, useRef, useState } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { usePreferences } from '../shell/preferences';
import { clock } from '../text/units';

export interface Line {
  label: string;
  /** A colour of the page: `--s1`. */
  colour: string;
  values: readonly (number | null)[];
  fill?: boolean;
}

interface ChartProps {
  title: string;
  /** What the picture says, in a sentence. */
  sentence: string;
  /** Seconds since the epoch. */
  times: readonly number[];
  lines: readonly Line[];
  show(value: number): string;
  onRange(from: number, to: number): void;
}

/** Points without a neighbour, which a line does not show. */
const alone: uPlot.Series.Points.Filter = ({ data }, series) => {
  const values = data[series] ?? [];
  return [...values].flatMap((value, index) =>
    value != null && values[index - 1] == null && values[index + 1] == null ? [index] : [],
  );
};

/** Lines over time on a canvas; dragging chooses a range, and its table is a key away. */
export function Chart({ title, sentence, times, lines, show, onRange }: ChartProps) {
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const latest = useRef(onRange);
  latest.current = onRange;
  const [isTable, setTable] = useState(false);
  const { theme } = usePreferences();
  const shape = lines.map(({ label }) => label).join();
  const data = useMemo(
    () => [times, ...lines.map(({ values }) => values)] as uPlot.AlignedData,
    [times, lines],
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: new data goes into the same plot, below
  useEffect(() => {
    const element = host.current;
    if (!element || isTable) return;
    const colour = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    const axis = {
      stroke: colour('--text-2'),
      grid: { stroke: colour('--line'), width: 1 },
      ticks: { stroke: colour('--line') },
      font: '11px system-ui',
    };
    const made = new uPlot(
      {
        width: element.clientWidth,
        height: 180,
        legend: { show: false },
        cursor: { drag: { x: true, y: false, setScale: false }, points: { show: false } },
        scales: { x: { time: true }, y: { range: (_, __, max) => [0, Math.max(max, 0.001) * 1.05] } },
        series: [
          {},
          ...lines.map(({ label, colour: name, fill }) => ({
            label,
            stroke: colour(name),
            width: 1.5,
            points: { show: true, size: 5, filter: alone },
            ...(fill ? { fill: `${colour(name)}22` } : {}),
          })),
        ],
        axes: [axis, { ...axis, size: 84, values: (_, splits) => splits.map((value) => show(value)) }],
        hooks: {
          setSelect: [
            (self) => {
              const { left, width } = self.select;
              if (width > 4)
                latest.current(self.posToVal(left, 'x') * 1000, self.posToVal(left + width, 'x') * 1000);
            },
          ],
        },
      },
      data,
      element,
    );
    plot.current = made;
    const sizes = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: 180 }));
    sizes.observe(element);
    return () => {
      sizes.disconnect();
      made.destroy();
      plot.current = undefined;
    };
  }, [shape, theme, isTable]);
  useEffect(() => plot.current?.setData(data), [data]);
  return (
    <figure className="chart">
      <figcaption className="row wrap">
        <h2 className="grow label-head">{title}</h2>
        <ul className="row wrap legend">
          {lines.map(({ label, colour }) => (
            <li key={label} className="row">
              <i className="swatch" style={{ background: `var(${colour})` }} aria-hidden />
              {label}
            </li>
          ))}
        </ul>
        <button
          type="button"
          className="button quiet small"
          aria-pressed={isTable}
          onClick={() => setTable(!isTable)}
        >
          Table
        </button>
      </figcaption>
      {isTable ? (
        <section className="chart-table" tabIndex={0} aria-label={title}>
          <table className="table">
            <thead>
              <tr>
                <th>From</th>
                {lines.map(({ label }) => (
                  <th className="num" key={label}>
                    {label}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {times.map((time, index) => (
                <tr key={time}>
                  <td>{clock(time * 1000).slice(0, 8)}</td>
                  {lines.map(({ label, values }) => (
                    <td className="num" key={label}>
                      {values[index] == null ? '' : show(values[index] as number)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      ) : (
        <div className="chart-canvas" ref={host} role="img" aria-label={sentence} />
      )}
    </figure>
  );
}
