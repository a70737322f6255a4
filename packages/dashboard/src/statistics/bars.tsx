import { Link } from '@tanstack/react-router';
import { inert } from '../text/inert';

interface BarsProps {
  title: string;
  rows: readonly { name: string; value: number; shown: string; to: string }[];
  none: string;
  tone?: string;
}

const MOST = 8;

/** Each bar is a link to the calls that it counts. */
export function Bars({ title, rows, none, tone = '' }: BarsProps) {
  const most = Math.max(1, ...rows.map(({ value }) => value));
  return (
    <section className="chart" aria-label={title}>
      <h2 className="label-head">{title}</h2>
      {rows.length === 0 ? <p className="said">{none}</p> : null}
      <ul className={`bars ${tone}`}>
        {[...rows]
          .sort((a, b) => b.value - a.value)
          .slice(0, MOST)
          .map(({ name, value, shown, to }) => (
            <li key={name}>
              <Link className="cut mono" to={to as never}>
                {inert(name)}
              </Link>
              <span className="bar" style={{ width: `${(value / most) * 100}%` }} aria-hidden />
              <span className="num">{shown}</span>
            </li>
          ))}
      </ul>
    </section>
  );
}
