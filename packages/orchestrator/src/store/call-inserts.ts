import { GROUP_COLUMNS } from './call-groups.js';
import { OWN_COLUMNS } from './call-values.js';
import type { SqliteFile } from './sqlite.js';

type Row = readonly unknown[];

/** So many rows are one statement, which costs less than as many statements; what is left over is written by the smaller. */
const AT_ONCE = [128, 16, 1];

/** Writes rows into the table of calls; blocks, so it is used in the scribe's thread. */
export class CallInserts {
  private readonly statements = new Map(AT_ONCE.map((count) => [count, statementFor(count)]));

  constructor(private readonly file: SqliteFile) {}

  /**
   * All or none of the rows, each with its group's number and its values in the order of OWN_COLUMNS; throws what the disk
   * says. One that is stored already stays as it is, so writing rows again does no harm.
   */
  insert(rows: readonly Row[]): void {
    this.file.run('begin immediate', []);
    try {
      let at = 0;
      for (const count of AT_ONCE)
        for (; at + count <= rows.length; at += count) this.insertSome(rows.slice(at, at + count));
      this.file.run('commit', []);
    } catch (error) {
      this.rollBack();
      throw error;
    }
  }

  private insertSome(rows: readonly Row[]): void {
    if (this.run(rows) === rows.length) return;
    for (const row of rows) {
      // A number may be taken by another process that writes to the same file; without one it gets the next.
      if (this.run([row]) === 0) this.run([row.with(1, null)]);
    }
  }

  /** Answers how many were not there. */
  private run(rows: readonly Row[]): number {
    const values: unknown[] = [];
    for (const row of rows) for (const value of row) values.push(value);
    return Number(
      this.file.run(this.statements.get(rows.length) ?? statementFor(rows.length), values).changes,
    );
  }

  private rollBack(): void {
    try {
      this.file.run('rollback', []);
    } catch {
      // SQLite has done so itself, as it does when the disk is full.
    }
  }
}

/** What a group says comes from its row in the memory of the connection. */
function statementFor(count: number): string {
  const places = `(?${',?'.repeat(OWN_COLUMNS.length)})`;
  const own = OWN_COLUMNS.map((_, index) => `own.column${index + 2}`);
  const shared = GROUP_COLUMNS.map((column) => `call_groups.${column}`);
  return `insert into calls (${[...OWN_COLUMNS, ...GROUP_COLUMNS].join()})
    select ${[...own, ...shared].join()} from (values ${Array(count).fill(places).join()}) as own
    cross join temp.call_groups on call_groups.number = own.column1
    where true on conflict do nothing`;
}
