import { Download } from 'lucide-react';
import { useMemo } from 'react';
import { liveLink, useAddress } from '../address/address';
import { FilterBar } from '../calls/filter-bar';
import { withOnly } from '../calls/filter-words';
import { type Range, rangeBounds, rangeLabel, readRange, SPANS, writeRange } from '../calls/range';
import { useTitle } from '../shell/title';
import { bytes, count } from '../text/units';
import { Menu } from '../ui/menu';
import { Empty, Failure, Loading } from '../ui/states';
import { Bars } from './bars';
import { GroupFigures } from './group-figures';
import { OverTime } from './over-time';
import { Tiles } from './tiles';
import { useStatistics } from './use-statistics';

const SIDES = ['tool', 'server', 'session', 'client', 'principal', 'code'] as const;

/** What is used, slow, failing or costly, and since when it changed. */
export default function StatisticsView() {
  const { search, set } = useAddress();
  const { q = '', t = '24h', by = 'tool' } = search;
  const range = useMemo(() => {
    const read = readRange(t);
    return read.kind === 'live' || read.kind === 'wrong' ? readRange('24h') : read;
  }, [t]);
  const earlier = useMemo(() => before(range), [range]);
  const { data, error, refetch } = useStatistics({ by, query: q, range, every: 5000, limit: 500 });
  const { data: past } = useStatistics({ by: 'server', query: q, range: earlier, limit: 1 });
  const { data: codes } = useStatistics({ by: 'code', query: q, range, every: 5000 });
  const { data: servers } = useStatistics({ by: 'server', query: q, range, every: 5000 });
  useTitle('Statistics');
  const exported = new URLSearchParams({ ...rangeBounds(range), ...(q ? { q } : {}) });
  const onRange = (from: number, to: number) => set({ t: writeRange(from, to) });
  return (
    <div className="page">
      <header>
        <h1>Statistics</h1>
        <Menu
          label={rangeLabel(range)}
          entries={Object.entries(SPANS).map(([text, { label }]) => ({
            label,
            isChosen: t === text,
            run: () => set({ t: text === '24h' ? undefined : text }),
          }))}
        />
        <Menu
          label={`by ${by}`}
          entries={SIDES.map((side) => ({
            label: side,
            isChosen: side === by,
            run: () => set({ by: side === 'tool' ? undefined : side }),
          }))}
        />
        <FilterBar query={q} onChange={(next, how) => set({ q: next || undefined }, how)} />
        <a className="button quiet" href={`/api/calls/export?${exported}`} download>
          <Download size={16} strokeWidth={1.5} aria-hidden /> Export JSONL
        </a>
      </header>
      {error && !data ? <Failure error={error} retry={() => void refetch()} /> : null}
      {!data && !error ? <Loading what="figures" /> : null}
      {data && data.total.calls === 0 ? (
        <Empty title="No calls in this time">
          <p>Choose a longer time, or fewer words in the filter.</p>
        </Empty>
      ) : null}
      {data && data.total.calls > 0 ? (
        <>
          <Tiles now={data.total} past={past?.total} query={q} t={t} />
          <OverTime data={data} onRange={onRange} />
          <div className="charts">
            <Bars
              title="Failures by code"
              tone="err"
              rows={(codes?.groups ?? [])
                .filter(({ code }) => code)
                .map(({ code = '', calls }) => ({
                  name: code,
                  value: calls,
                  shown: count(calls),
                  to: liveLink(withOnly(q, 'code', code), { t }),
                }))}
              none="Nothing failed."
            />
            <Bars
              title="Bytes by server"
              rows={(servers?.groups ?? []).map(({ server = '', argumentBytes, resultBytes }) => ({
                name: server || 'none',
                value: argumentBytes + resultBytes,
                shown: bytes(argumentBytes + resultBytes),
                to: liveLink(server ? withOnly(q, 'server', server) : q, { t }),
              }))}
              none="Nothing was sent."
            />
          </div>
          <GroupFigures groups={data.groups} by={by} query={q} t={t} />
        </>
      ) : null}
    </div>
  );
}

/** The same length of time, just before. */
function before(range: Range): Range {
  const now = Math.floor(Date.now() / 60_000) * 60_000;
  if (range.kind === 'last') return { kind: 'between', from: now - 2 * range.ms, to: now - range.ms };
  if (range.kind === 'between')
    return { kind: 'between', from: range.from - (range.to - range.from), to: range.from };
  return range;
}
