import type { Kysely } from 'kysely';
import type { StoreSchema } from './schema.js';

export interface SecretRow {
  name: string;
  sealed: string;
  /** Milliseconds since the epoch. */
  changedAt: number;
}

/** Sealed secrets by their names; what opens them is elsewhere. */
export class SecretStore {
  constructor(private readonly db: Kysely<StoreSchema>) {}

  async all(): Promise<SecretRow[]> {
    const rows = await this.db.selectFrom('secrets').selectAll().execute();
    return rows.map(({ name, sealed, changed_at }) => ({ name, sealed, changedAt: changed_at }));
  }

  async put({ name, sealed, changedAt }: SecretRow): Promise<void> {
    const rest = { sealed, changed_at: changedAt };
    await this.db
      .insertInto('secrets')
      .values({ name, ...rest })
      .onConflict((conflict) => conflict.column('name').doUpdateSet(rest))
      .execute();
  }

  async remove(name: string): Promise<void> {
    await this.db.deleteFrom('secrets').where('name', '=', name).execute();
  }
}
