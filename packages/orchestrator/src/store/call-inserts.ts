import { CALL_COLUMNS } from './call-values.js';
import type { SqliteFile } from './sqlite.js';

type Row = readonly unknown[];

/** So many rows of one kind are one statement, which costs less than as many statements. */
const ROWS_AT_ONCE = 16;

/** Writes rows into the table of calls; blocks, so it is used in the scribe's thread. */
export class CallInserts {
  private readonly statements = new Map<string, string>();

  constructor(private readonly file: SqliteFile) {}

  /**
   * All or none of the rows, each with its values in the order of CALL_COLUMNS; throws what the disk says. One that is
   * stored already stays as it is, so writing rows again does no harm.
   */
  insert(rows: readonly Row[]): void {
    this.file.run('begin immediate', []);
    try {
      for (let at = 0; at < rows.length; ) at += this.insertSome(rows, at);
      this.file.run('commit', []);
    } catch (error) {
      this.rollBack();
      throw error;
    }
  }

  /** Answers how many: those of one kind that come next to each other, as most do. */
  private insertSome(rows: readonly Row[], at: number): number {
    const kind = kindOf(rows[at] as Row);
    const end = Math.min(at + ROWS_AT_ONCE, rows.length);
    let count = 1;
    while (at + count < end && kindOf(rows[at + count] as Row) === kind) count += 1;
    const some = rows.slice(at, at + count);
    if (count === ROWS_AT_ONCE && this.run(some, kind, 0) === count) return count;
    for (const row of some) {
      // A number may be taken by another process that writes to the same file.
      if (this.run([row], kind, 0) === 0) this.run([row], kind, 1);
    }
    return count;
  }

  /** Answers how many were not there. */
  private run(rows: readonly Row[], kind: number, first: number): number {
    const key = `${rows.length} ${first} ${kind}`;
    let statement = this.statements.get(key);
    if (statement === undefined) {
      statement = statementFor(rows[0] as Row, rows.length, first);
      this.statements.set(key, statement);
    }
    const values: unknown[] = [];
    for (const row of rows)
      for (let index = first; index < row.length; index += 1)
        if (row[index] !== null) values.push(row[index]);
    return Number(this.file.run(statement, values).changes);
  }

  private rollBack(): void {
    try {
      this.file.run('rollback', []);
    } catch {
      // SQLite has done so itself, as it does when the disk is full.
    }
  }
}

/** Which of its values there are: each has a bit, of the 32 that a number has. */
function kindOf(row: Row): number {
  let kind = 0;
  for (let index = 0; index < row.length; index += 1) if (row[index] !== null) kind |= 1 << index;
  return kind;
}

/** What is null is left out: every value costs, and nothing is what a column has without one. */
function statementFor(row: Row, count: number, first: number): string {
  const columns = CALL_COLUMNS.filter((_, index) => index >= first && row[index] !== null);
  const places = `(${columns.map(() => '?').join()})`;
  const all = Array.from({ length: count }, () => places).join();
  return `insert into calls (${columns.join()}) values ${all} on conflict do nothing`;
}
