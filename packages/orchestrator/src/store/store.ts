import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { ConversationStore } from '@mcpbridge/shared/conversation.js';
import { AppError, messageOf } from '@mcpbridge/shared/errors.js';
import { Kysely } from 'kysely';
import type { Log } from '../log.js';
import { CallLog } from './call-log.js';
import { SqlConversations } from './conversation-store.js';
import { DecisionStore } from './decision-store.js';
import { KeptCalls } from './kept-calls.js';
import { KeyStore } from './key-store.js';
import { LockStore } from './lock-store.js';
import { migrate } from './migrations.js';
import { Outputs } from './outputs.js';
import { ProposalStore } from './proposal-store.js';
import { Retention, type RetentionLimits } from './retention.js';
import type { StoreSchema } from './schema.js';
import { Scribe } from './scribe.js';
import { SecretStore } from './secret-store.js';
import { type Sealing, SessionStore } from './session-store.js';
import { SessionToolStore } from './session-tool-store.js';
import { Spilled } from './spilled.js';
import { sqliteDialect } from './sqlite-dialect.js';
import { TokenStore } from './token-store.js';
import { ToolListStore } from './tool-list-store.js';

/** What must last. */
export interface Store {
  calls: CallLog;
  kept: KeptCalls;
  proposals: ProposalStore;
  decisions: DecisionStore;
  conversations: ConversationStore;
  sessions: SessionStore;
  toolLists: ToolListStore;
  tokens: TokenStore;
  keys: KeyStore;
  secrets: SecretStore;
  sessionTools: SessionToolStore;
  lock: LockStore;
  outputs: Outputs;
  results: Spilled;
  scribe: Scribe;
  retention: Retention;
  /** Writes what waits, then closes the file. */
  close(): Promise<void>;
}

const FOR_GOOD: RetentionLimits = { ageMs: 0, bytes: 0 };

/**
 * Opens, and makes where missing, the embedded store `store.db` in a folder; only this user can read it.
 * Without `sealing` the environments of sessions stand in it as they are.
 */
export async function openStore(
  folder: string,
  log: Log,
  limits: RetentionLimits = FOR_GOOD,
  sealing?: Sealing,
): Promise<Store> {
  const file = join(folder, 'store.db');
  const db = await openDatabase(folder, file);
  const results = new Spilled(join(folder, 'results'));
  const scribe = new Scribe(file, results);
  let readOnly: Kysely<StoreSchema> | undefined;
  // Opened at the first question: most processes are never asked one.
  const reader = () => (readOnly ??= new Kysely<StoreSchema>({ dialect: sqliteDialect(file) }));
  const calls = new CallLog(reader, scribe, log);
  const sessions = new SessionStore(db, log, sealing);
  const retention = new Retention(db, results, limits, log);
  return {
    calls,
    kept: new KeptCalls(db),
    proposals: new ProposalStore(db),
    decisions: new DecisionStore(db),
    conversations: new SqlConversations(db),
    sessions,
    toolLists: new ToolListStore(db),
    tokens: new TokenStore(db),
    keys: new KeyStore(db),
    secrets: new SecretStore(db),
    sessionTools: new SessionToolStore(db),
    lock: new LockStore(db),
    outputs: new Outputs(join(folder, 'outputs')),
    results,
    scribe,
    retention,
    async close() {
      await retention.close();
      await calls.close();
      await scribe.close();
      await readOnly?.destroy();
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
