import { type Kysely, type Migration, type MigrationProvider, Migrator } from 'kysely';
import { addAgent } from './migration-0010.js';
import { addKeys } from './migration-0020.js';
import { addStatisticsIndex } from './migration-0021.js';
import { addDecisions } from './migration-0022.js';
import { dropCallIndexes } from './migration-0030.js';
import { addSecrets } from './migration-0031.js';
import type { StoreSchema } from './schema.js';

/** Never changed once released; what changes the tables is a new entry with the next number. */
const MIGRATIONS: Record<string, Migration> = {
  '0001-calls-sessions-tool-lists': { up: createTables },
  '0002-session-policies': { up: addSessionPolicies },
  '0003-accepted-tools': { up: addAcceptedTools },
  '0004-call-results': { up: addCallResults },
  '0010-agent': { up: addAgent },
  '0020-keys': { up: addKeys },
  '0021-statistics-index': { up: addStatisticsIndex },
  '0022-decisions': { up: addDecisions },
  '0030-fewer-call-indexes': { up: dropCallIndexes },
  '0031-secrets': { up: addSecrets },
};

const provider: MigrationProvider = { getMigrations: async () => MIGRATIONS };

/** Brings the tables of an older version, or of none, to this one. Rejects when they are of a newer one. */
export async function migrate<Schema>(db: Kysely<Schema>): Promise<void> {
  const { error } = await new Migrator({ db, provider }).migrateToLatest();
  if (error !== undefined) throw error;
}

async function createTables(db: Kysely<StoreSchema>): Promise<void> {
  await db.schema
    .createTable('calls')
    .addColumn('seq', 'integer', (column) => column.primaryKey().autoIncrement())
    .addColumn('id', 'text', (column) => column.notNull().unique())
    .addColumn('started_at', 'integer', (column) => column.notNull())
    .addColumn('principal', 'text', (column) => column.notNull())
    .addColumn('session_id', 'text', (column) => column.notNull())
    .addColumn('client', 'text')
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('server', 'text', (column) => column.notNull())
    .addColumn('tool', 'text', (column) => column.notNull())
    .addColumn('arguments', 'text', (column) => column.notNull())
    .addColumn('arguments_cut', 'integer', (column) => column.notNull())
    .addColumn('outcome', 'text', (column) => column.notNull())
    .addColumn('error_code', 'text')
    .addColumn('error_message', 'text')
    .addColumn('duration_ms', 'real', (column) => column.notNull())
    .addColumn('argument_bytes', 'integer', (column) => column.notNull())
    .addColumn('result_bytes', 'integer', (column) => column.notNull())
    .execute();
  // Each filter alone, newest first; two filters at once use the better one.
  await createIndex(db, 'calls', ['started_at']);
  for (const filter of ['session_id', 'server', 'tool']) {
    await createIndex(db, 'calls', [filter, 'started_at']);
  }
  // Most calls succeed, and a search for those finds them without an index.
  await db.schema
    .createIndex('calls_by_outcome_and_started_at')
    .on('calls')
    .columns(['outcome', 'started_at'])
    .where('outcome', '<>', 'ok')
    .execute();
  await db.schema
    .createTable('sessions')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('owner', 'text', (column) => column.notNull())
    .addColumn('created_at', 'integer', (column) => column.notNull())
    .addColumn('last_used_at', 'integer', (column) => column.notNull())
    .addColumn('lifetime', 'text', (column) => column.notNull())
    .addColumn('client', 'text')
    .addColumn('policy', 'text')
    .addColumn('ended_at', 'integer')
    .execute();
  await createIndex(db, 'sessions', ['last_used_at']);
  await db.schema
    .createTable('tool_lists')
    .addColumn('server_id', 'text', (column) => column.notNull())
    .addColumn('config_hash', 'text', (column) => column.notNull())
    .addColumn('tools', 'text', (column) => column.notNull())
    .addColumn('listed_at', 'integer', (column) => column.notNull())
    .addPrimaryKeyConstraint('tool_lists_pk', ['server_id', 'config_hash'])
    .execute();
}

async function addSessionPolicies(db: Kysely<StoreSchema>): Promise<void> {
  await db.schema.alterTable('sessions').addColumn('parent', 'text').execute();
  await db.schema.alterTable('sessions').addColumn('expires_at', 'integer').execute();
  await createIndex(db, 'sessions', ['parent']);
  await db.schema
    .createTable('session_tokens')
    .addColumn('hash', 'text', (column) => column.primaryKey())
    .addColumn('session_id', 'text', (column) => column.notNull())
    .addColumn('owner', 'text', (column) => column.notNull())
    .addColumn('expires_at', 'integer', (column) => column.notNull())
    .execute();
  await createIndex(db, 'session_tokens', ['session_id']);
  await db.schema
    .createTable('session_tools')
    .addColumn('session_id', 'text', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('definition', 'text', (column) => column.notNull())
    .addColumn('url', 'text', (column) => column.notNull())
    .addColumn('secret', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('session_tools_pk', ['session_id', 'name'])
    .execute();
}

async function addAcceptedTools(db: Kysely<StoreSchema>): Promise<void> {
  await db.schema
    .createTable('accepted_tools')
    .addColumn('server', 'text', (column) => column.notNull())
    .addColumn('tool', 'text', (column) => column.notNull())
    .addColumn('definition', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('accepted_tools_pk', ['server', 'tool'])
    .execute();
}

async function addCallResults(db: Kysely<StoreSchema>): Promise<void> {
  const added = {
    text: ['result', 'project', 'parent', 'via', 'replay_of', 'notes'],
    real: ['rule_ms', 'waiting_ms', 'queue_ms', 'upstream_ms'],
    integer: ['duration_class'],
  } as const;
  for (const type of ['text', 'real', 'integer'] as const)
    for (const column of added[type]) await db.schema.alterTable('calls').addColumn(column, type).execute();
  for (const column of ['result_cut', 'result_kept'])
    await db.schema
      .alterTable('calls')
      .addColumn(column, 'integer', (made) => made.notNull().defaultTo(0))
      .execute();
  for (const column of ['parent', 'replay_of'])
    await db.schema
      .createIndex(`calls_by_${column}`)
      .on('calls')
      .columns([column])
      .where(column, 'is not', null)
      .execute();
}

async function createIndex(db: Kysely<StoreSchema>, table: string, columns: string[]): Promise<void> {
  await db.schema
    .createIndex(`${table}_by_${columns.join('_and_')}`)
    .on(table)
    .columns(columns)
    .execute();
}
