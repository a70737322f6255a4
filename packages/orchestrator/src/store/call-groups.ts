import type { Hide } from '@mcpbridge/shared/secrets.js';
import type { CallMetrics, Series } from './call-metrics.js';
import { type GroupMembers, readGroup } from './record-text.js';
import type { SqliteFile } from './sqlite.js';

/** What many records have in common, looked at once for all of them. */
export interface CallGroup extends GroupMembers {
  /** Of its row in `call_groups`. */
  number: number;
  series: Series;
}

/** Columns of `calls` that a group gives. */
export const GROUP_COLUMNS = [
  ...['principal', 'session_id', 'client', 'project', 'kind'],
  ...['server', 'tool', 'outcome', 'error_code', 'via'],
] as const;

/** More are forgotten, and looked at anew. */
const KEPT = 2000;

/**
 * Groups stand in a table of this connection's memory: to hand SQLite a text costs more than all else of a column, so
 * that rows take theirs from there.
 */
export class CallGroups {
  private readonly known = new Map<string, CallGroup>();

  constructor(
    private readonly file: SqliteFile,
    private readonly metrics: CallMetrics,
    private hide: Hide,
  ) {
    file.run(`create temp table call_groups (number integer primary key, ${GROUP_COLUMNS.join()})`, []);
  }

  /** Other secrets are known from now on. */
  hideWith(hide: Hide): void {
    this.hide = hide;
    this.clear();
  }

  /** Between two batches: the rows of one need their groups until they are written. */
  trim(): void {
    if (this.known.size > KEPT) this.clear();
  }

  of(text: string): CallGroup {
    let group = this.known.get(text);
    if (!group) {
      group = this.made(readGroup(text));
      this.known.set(text, group);
    }
    return group;
  }

  private made(members: GroupMembers): CallGroup {
    // Callers make up names of tools and of themselves.
    const { client, server, tool } = members;
    const number = this.known.size + 1;
    const group = {
      ...members,
      client: client === undefined ? undefined : this.hide(client),
      server: this.hide(server),
      tool: this.hide(tool),
    };
    const { principal, sessionId, project, kind, outcome, errorCode, via } = group;
    const places = `?${',?'.repeat(GROUP_COLUMNS.length)}`;
    this.file.run(`insert into temp.call_groups values (${places})`, [
      ...[
        number,
        principal,
        sessionId,
        group.client ?? null,
        project ?? null,
        kind,
        group.server,
        group.tool,
      ],
      ...[outcome, errorCode ?? null, via ?? null],
    ]);
    return { ...group, number, series: this.metrics.seriesOf(group) };
  }

  private clear(): void {
    this.known.clear();
    this.file.run('delete from temp.call_groups', []);
  }
}
