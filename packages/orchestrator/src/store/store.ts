import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError, messageOf } from '@mcpbridge/shared/errors.js';
import { Kysely } from 'kysely';
import type { Log } from '../log.js';
import { CallLog } from './call-log.js';
import { LockStore } from './lock-store.js';
import { migrate } from './migrations.js';
import { Outputs } from './outputs.js';
import type { StoreSchema } from './schema.js';
import { SessionStore } from './session-store.js';
import { SessionToolStore } from './session-tool-store.js';
import { sqliteDialect } from './sqlite-dialect.js';
import { TokenStore } from './token-store.js';
import { ToolListStore } from './tool-list-store.js';

/** What must last. */
export interface Store {
  calls: CallLog;
  sessions: SessionStore;
  toolLists: ToolListStore;
  tokens: TokenStore;
  sessionTools: SessionToolStore;
  lock: LockStore;
  outputs: Outputs;
  /** Writes what waits, then closes the file. */
  close(): Promise<void>;
}

/** Opens, and makes where missing, the embedded store `store.db` in a folder; only this user can read it. */
export async function openStore(folder: string, log: Log): Promise<Store> {
  const file = join(folder, 'store.db');
  const db = await openDatabase(folder, file);
  const calls = new CallLog(db, log);
  const sessions = new SessionStore(db, log);
  return {
    calls,
    sessions,
    toolLists: new ToolListStore(db),
    tokens: new TokenStore(db),
    sessionTools: new SessionToolStore(db),
    lock: new LockStore(db),
    outputs: new Outputs(join(folder, 'outputs')),
    async close() {
      await calls.close();
      await sessions.flush();
      await db.destroy();
    },
  };
}

async function openDatabase(folder: string, file: string): Promise<Kysely<StoreSchema>> {
  let db: Kysely<StoreSchema> | undefined;
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    db = new Kysely<StoreSchema>({ dialect: sqliteDialect(file) });
    await migrate(db);
    return db;
  } catch (error) {
    await db?.destroy();
    const remedy =
      'Move the file away to start with an empty store, or set MCPBRIDGE_HOME to another folder.';
    throw new AppError('INTERNAL', `The store "${file}" cannot be used: ${messageOf(error)}. ${remedy}`, {
      cause: error,
    });
  }
}
