import type { RunInfo, WholeConversation } from './use-runs';

export interface Stretch {
  run: RunInfo;
  /** The entry of it after which the next one goes on; undefined: all of it is shown. */
  until: number | undefined;
  /** Runs that go on from it on other branches. */
  branches: RunInfo[];
}

/** The runs that led to one, the first first; what lies beside it are branches. */
export function pathTo({ runs, entries }: WholeConversation, runId: string): Stretch[] {
  const owner = new Map(entries.map(({ seq, run_id: id }) => [seq, topOf(id)]));
  const before = ({ after }: RunInfo) => (after === undefined ? undefined : owner.get(after));
  const path: Stretch[] = [];
  let until: number | undefined;
  for (let run = runs.find(({ run_id: id }) => id === runId); run; ) {
    const { run_id: id } = run;
    const next = path[0]?.run.run_id;
    const branches = runs.filter((other) => before(other) === id && other.run_id !== next);
    path.unshift({ run, until, branches });
    until = run.after;
    const above = before(run);
    run = runs.find((other) => other.run_id === above && above !== id);
  }
  return path;
}

/** The entries of a step or a sub-agent are those of the run that it works for. */
const topOf = (runId: string) => runId.split('.')[0] ?? runId;

/** The last entry of a run, after which a conversation goes on. */
export function lastEntryOf({ entries }: WholeConversation, runId: string): number | undefined {
  return entries.findLast(({ run_id: id }) => id === runId)?.seq;
}
