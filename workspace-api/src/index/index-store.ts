import { closeSync, fchmodSync, mkdirSync, openSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { type NativeDatabase, type NativeStatement, sqliteModule } from '@mcpbridge/shared/sqlite-module.js';
import type { Chunk } from './chunks.js';
import type { Packed } from './vectors.js';
import type { Condition } from './visible.js';

const FORM = 1;
const SCHEMA = `
  create table files (
    id integer primary key,
    path text not null unique,
    -- What the file was when it was read; null: the text was given, and there is no file.
    stamp text
  );
  create table chunks (
    id integer primary key,
    file integer not null,
    number integer not null,
    first_line integer not null,
    last_line integer not null,
    text text not null,
    model text,
    vector blob
  );
  create index chunks_of_file on chunks (file);
  create virtual table words using fts5(text, content = '', contentless_delete = 1, tokenize = 'porter unicode61');
`;
const SETTINGS = `
  pragma journal_mode = wal;
  pragma synchronous = normal;
  pragma cache_size = -8000;
  pragma temp_store = memory;
`;

export interface IndexedFile {
  id: number;
  path: string;
  stamp: string | null;
}

export interface StoredChunk {
  id: number;
  path: string;
  number: number;
  first_line: number;
  last_line: number;
  text: string;
}

/** The chunks of all files, by their words and by their vectors. Paths are relative to the workspace. */
export class IndexStore {
  private readonly statements = new Map<string, NativeStatement>();

  private constructor(private readonly db: NativeDatabase) {}

  /** One that is broken, or of another form, is made anew: all of it comes from the files. */
  static async open(file: string): Promise<IndexStore> {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    try {
      return await IndexStore.opened(file);
    } catch {
      for (const part of ['', '-wal', '-shm']) rmSync(file + part, { force: true });
      return IndexStore.opened(file);
    }
  }

  private static async opened(file: string): Promise<IndexStore> {
    const { DatabaseSync } = await sqliteModule();
    // SQLite gives the files beside it the mode of this one.
    const handle = openSync(file, 'a', 0o600);
    fchmodSync(handle, 0o600);
    closeSync(handle);
    const db = new DatabaseSync(file);
    try {
      db.exec(SETTINGS);
      const [form] = db.prepare('pragma user_version').all() as { user_version: number }[];
      const [check] = db.prepare('pragma quick_check(1)').all() as { quick_check: string }[];
      if (check?.quick_check !== 'ok') throw new Error('The index is broken.');
      if (form?.user_version === 0) db.exec(`${SCHEMA} pragma user_version = ${FORM};`);
      else if (form?.user_version !== FORM) throw new Error('The index is of another form.');
      return new IndexStore(db);
    } catch (error) {
      db.close();
      throw error;
    }
  }

  close(): void {
    this.db.close();
  }

  file(path: string): IndexedFile | undefined {
    return this.all<IndexedFile>('select id, path, stamp from files where path = ?', path)[0];
  }

  /** Those that were read from the disk, in the order of their ids, after one of them. */
  filesAfter(id: number, { sql, parameters }: Condition, limit: number): IndexedFile[] {
    const query = `select id, path, stamp from files where id > ? and stamp is not null and ${sql} order by id limit ?`;
    return this.all<IndexedFile>(query, id, ...parameters, limit);
  }

  /** In the place of what was known of the file. */
  put(path: string, stamp: string | null, chunks: readonly Chunk[]): void {
    this.atOnce(() => {
      this.forget(path);
      const file = this.run('insert into files (path, stamp) values (?, ?)', path, stamp);
      for (const [number, { text, firstLine, lastLine }] of chunks.entries()) {
        const id = this.run(
          'insert into chunks (file, number, first_line, last_line, text) values (?, ?, ?, ?, ?)',
          ...[file, number, firstLine, lastLine, text],
        );
        this.run('insert into words (rowid, text) values (?, ?)', id, inWords(`${path}\n${text}`));
      }
    });
  }

  remove(path: string): void {
    this.atOnce(() => this.forget(path));
  }

  /** Chunks that have no vector of the model. */
  without(model: string, { sql, parameters }: Condition, limit: number): { id: number; text: string }[] {
    const query = `select chunks.id, text from chunks join files on files.id = file
      where (model is null or model <> ?) and ${sql} limit ?`;
    return this.all(query, model, ...parameters, limit);
  }

  count(path: string): number {
    const query = 'select count(*) as count from chunks join files on files.id = file where path = ?';
    return this.all<{ count: number }>(query, path)[0]?.count ?? 0;
  }

  setVectors(model: string, entries: readonly { id: number; vector: Packed }[]): void {
    this.atOnce(() => {
      for (const { id, vector } of entries)
        this.run('update chunks set model = ?, vector = ? where id = ?', model, vector, id);
    });
  }

  /** By BM25, best first. */
  byWords(query: string, { sql, parameters }: Condition, limit: number): number[] {
    const match = expression(query);
    if (match === '') return [];
    const select = `select words.rowid as id from words join chunks on chunks.id = words.rowid
      join files on files.id = file where words match ? and ${sql} order by rank, words.rowid limit ?`;
    return this.all<{ id: number }>(select, match, ...parameters, limit).map(({ id }) => id);
  }

  /** In the order of their ids, after one of them. */
  vectorsAfter(
    id: number,
    model: string,
    { sql, parameters }: Condition,
    limit: number,
  ): { id: number; vector: Packed }[] {
    const select = `select chunks.id, vector from chunks join files on files.id = file
      where chunks.id > ? and model = ? and ${sql} order by chunks.id limit ?`;
    return this.all(select, id, model, ...parameters, limit);
  }

  chunk(id: number): StoredChunk | undefined {
    const select = `select chunks.id, path, number, first_line, last_line, chunks.text
      from chunks join files on files.id = file where chunks.id = ?`;
    return this.all<StoredChunk>(select, id)[0];
  }

  private forget(path: string): void {
    const known = this.file(path);
    if (!known) return;
    this.run('delete from words where rowid in (select id from chunks where file = ?)', known.id);
    this.run('delete from chunks where file = ?', known.id);
    this.run('delete from files where id = ?', known.id);
  }

  private atOnce(work: () => void): void {
    this.db.exec('begin');
    try {
      work();
      this.db.exec('commit');
    } catch (error) {
      this.db.exec('rollback');
      throw error;
    }
  }

  private all<Row>(sql: string, ...parameters: unknown[]): Row[] {
    return this.prepared(sql).all(...parameters) as Row[];
  }

  private run(sql: string, ...parameters: unknown[]): number {
    return Number(this.prepared(sql).run(...parameters).lastInsertRowid);
  }

  private prepared(sql: string): NativeStatement {
    let statement = this.statements.get(sql);
    if (!statement) {
      statement = this.db.prepare(sql);
      // Conditions differ from session to session.
      if (this.statements.size >= 100) this.statements.clear();
      this.statements.set(sql, statement);
    }
    return statement;
  }
}

/** Any of the words; each fits its longer forms, too. Those that are in every text say nothing. */
function expression(query: string): string {
  const words = [
    ...new Set(
      inWords(query)
        .toLowerCase()
        .match(/[\p{L}\p{N}]+/gu) ?? [],
    ),
  ];
  const telling = words.filter((word) => !COMMON.has(word));
  return (telling.length > 0 ? telling : words).map(fitting).join(' OR ');
}

function fitting(word: string): string {
  return word.length < SHORT ? `"${word}"` : `"${word}"*`;
}

const SHORT = 3;
const COMMON = new Set(
  'a an and are as at be by do does for from has have how i in is it its of on or that the this to was what when where which who why with'.split(
    ' ',
  ),
);

/** `readFile` and `read_file` are found by "file". */
function inWords(text: string): string {
  const split = text.replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2').replaceAll(/[_\-./]/g, ' ');
  return split === text ? text : `${text} ${split}`;
}
