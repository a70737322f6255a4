import { type MemoryDatabase, memoryDatabases } from './sqlite.js';

/** What of a tool is searched. */
export interface IndexedTool {
  name: string;
  description: string;
  /** Names and descriptions of its parameters. */
  parameters: string;
}

/** A word in the name says more than one in the description, and that more than one in a parameter. */
const WEIGHTS = '10.0, 3.0, 1.0';

/** Finds tools by words, best first (BM25 of SQLite's FTS5); a word fits its longer forms, too. */
export class ToolIndex {
  private constructor(
    private readonly db: MemoryDatabase,
    private readonly tools: readonly IndexedTool[],
  ) {}

  static readonly maker = async (): Promise<(tools: readonly IndexedTool[]) => ToolIndex> => {
    const create = await memoryDatabases();
    return (tools) => {
      const db = create();
      db.exec(
        "create virtual table tools using fts5(name, description, parameters, tokenize = 'porter unicode61')",
      );
      const insert = db.prepare(
        'insert into tools (rowid, name, description, parameters) values (?, ?, ?, ?)',
      );
      db.exec('begin');
      for (const [index, { name, description, parameters }] of tools.entries())
        insert.run(index + 1, inWords(name), description, inWords(parameters));
      db.exec('commit');
      return new ToolIndex(db, tools);
    };
  };

  /** Names of at most `limit` tools. */
  search(query: string, limit: number): string[] {
    const words = inWords(query).match(/[\p{L}\p{N}]+/gu) ?? [];
    if (words.length === 0) return [];
    const match = words.map((word) => `"${word}"*`).join(' OR ');
    const sql = `select rowid from tools where tools match ? order by bm25(tools, ${WEIGHTS}), rowid limit ?`;
    const rows = this.db.prepare(sql).all(match, limit) as { rowid: number }[];
    return rows.flatMap(({ rowid }) => this.tools[rowid - 1]?.name ?? []);
  }
}

/** `createIssue` is found by "issue". */
function inWords(text: string): string {
  return `${text} ${text.replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2').replaceAll(/[_\-./]/g, ' ')}`;
}
