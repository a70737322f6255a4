import type {
  CallStatistics,
  CallStatisticsGroup,
  HistogramBucket,
} from '@mcpbridge/shared/call-statistics.js';
import { type Kysely, sql } from 'kysely';
import { type CallSelection, selected } from './call-selected.js';
import { durationOf } from './call-values.js';
import type { StoreSchema } from './schema.js';

export const GROUPED = ['tool', 'server', 'session', 'client', 'principal', 'code'] as const;
export type Grouped = (typeof GROUPED)[number];

/** One cell of a count: calls alike in group or time, in outcome and in class of duration. */
interface Cell {
  outcome: string;
  grade: number | null;
  calls: number;
  args: number;
  results: number;
}

interface GroupCell extends Cell {
  server: string;
  name: string | null;
}

interface SlotCell extends Cell {
  slot: number;
}

const COLUMN = {
  tool: 'tool',
  server: 'server',
  session: 'session_id',
  client: 'client',
  principal: 'principal',
  code: 'error_code',
} as const;
/** Characters of a token, roughly, in English and in code. */
const TOKEN_BYTES = 4;

const sums = [
  'outcome' as const,
  'duration_class as grade' as const,
  sql<number>`count(*)`.as('calls'),
  sql<number>`sum(argument_bytes)`.as('args'),
  sql<number>`sum(result_bytes)`.as('results'),
];

/** Groups and the course over time are counted apart: together they would have as many cells as there are calls. */
export async function callStatistics(
  db: Kysely<StoreSchema>,
  selection: CallSelection & { since: number; until: number },
  by: Grouped,
  buckets: number,
): Promise<CallStatistics> {
  const { since, until } = selection;
  const bucketMs = Math.max(1, Math.ceil((until - since) / buckets));
  const groupCells: GroupCell[] = await selected(db, selection)
    .select([
      sql<string>`${by === 'tool' || by === 'server' ? sql.ref('server') : sql.lit('')}`.as('server'),
      sql<string | null>`${sql.ref(COLUMN[by])}`.as('name'),
      ...sums,
    ])
    .groupBy(sql`1, 2, 3, 4`)
    .execute();
  const slotCells: SlotCell[] = await selected(db, selection)
    .select([sql<number>`cast((started_at - ${since}) / ${bucketMs} as integer)`.as('slot'), ...sums])
    .groupBy(sql`1, 2, 3`)
    .execute();
  const total = new Tally();
  const groups = new Map<string, Tally>();
  for (const cell of groupCells) {
    const key = JSON.stringify([cell.server, cell.name]);
    let group = groups.get(key);
    if (!group) groups.set(key, (group = new Tally()));
    group.add(cell);
    total.add(cell);
  }
  const slots = Array.from({ length: Math.ceil((until - since) / bucketMs) }, () => new Tally());
  for (const cell of slotCells) slots[cell.slot]?.add(cell);
  return {
    since,
    until,
    by,
    total: total.sums(),
    groups: [...groups]
      .map(([key, tally]): CallStatisticsGroup => {
        const [server, name] = JSON.parse(key);
        return {
          ...(server ? { server } : {}),
          ...(by === 'server' ? {} : { [by]: name ?? '' }),
          ...tally.sums(),
        };
      })
      .sort((a, b) => b.calls - a.calls),
    bucketMs,
    histogram: slots.map(
      (tally, index): HistogramBucket => ({ at: since + index * bucketMs, ...tally.sums() }),
    ),
  };
}

class Tally {
  private readonly grades = new Map<number, number>();
  private readonly outcomes: Record<string, number> = {};
  private calls = 0;
  private args = 0;
  private results = 0;

  add({ outcome, grade, calls, args, results }: Cell): void {
    this.calls += calls;
    this.args += args;
    this.results += results;
    this.outcomes[outcome] = (this.outcomes[outcome] ?? 0) + calls;
    if (grade !== null) this.grades.set(grade, (this.grades.get(grade) ?? 0) + calls);
  }

  sums() {
    const { calls, args, results, outcomes } = this;
    const failed = (outcomes.failed ?? 0) + (outcomes.tool_error ?? 0);
    const { refused = 0, cancelled = 0, ok = 0 } = outcomes;
    const [p50, p95, p99] = this.percentiles([0.5, 0.95, 0.99]);
    return {
      ...{ calls, ok, failed, refused, cancelled },
      errorShare: calls === 0 ? 0 : (failed + refused) / calls,
      ...(p50 === undefined ? {} : { p50, p95, p99 }),
      argumentBytes: args,
      resultBytes: results,
      tokens: Math.round((args + results) / TOKEN_BYTES),
    };
  }

  private percentiles(shares: number[]): (number | undefined)[] {
    const sorted = [...this.grades].sort(([a], [b]) => a - b);
    const all = sorted.reduce((sum, [, count]) => sum + count, 0);
    return shares.map((share) => {
      let left = Math.ceil(share * all);
      for (const [grade, count] of sorted) {
        left -= count;
        if (left <= 0) return Number(durationOf(grade).toPrecision(3));
      }
      return undefined;
    });
  }
}
