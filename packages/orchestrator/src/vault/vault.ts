import { AppError } from '@mcpbridge/shared/errors.js';
import type { Log } from '../log.js';
import type { SecretRow, SecretStore } from '../store/secret-store.js';
import type { Sealer } from './sealer.js';

const NAME = /^[A-Za-z_][\w.-]{0,63}$/;
/** Shorter ones are words, and could not be blanked in logs. */
const MIN_LENGTH = 6;
const MAX_LENGTH = 64 * 1024;

interface VaultOptions {
  store: SecretStore;
  sealer: Sealer;
  log: Log;
  /** Hears of every value before anything is done with it. */
  onKnown(values: readonly string[]): void;
}

/** Secrets that configurations name as `${secret:NAME}`: written, used, replaced and deleted, and never read back. */
export class Vault {
  private readonly rows = new Map<string, SecretRow>();
  /** Those that could be opened. */
  private readonly values = new Map<string, string>();

  private constructor(private readonly options: VaultOptions) {}

  static async open(options: VaultOptions): Promise<Vault> {
    const vault = new Vault(options);
    for (const row of await options.store.all()) await vault.take(row);
    options.onKnown([...vault.values.values()]);
    return vault;
  }

  /** The value, or why there is none. */
  lookUp(name: string): { value: string } | { why: string } {
    const value = this.values.get(name);
    if (value !== undefined) return { value };
    return {
      why: this.rows.has(name)
        ? 'was sealed with another key; start with that MCP_SECRETS_KEY, or set it anew'
        : 'is not set; set it with POST /api/secrets or in the dashboard under Settings',
    };
  }

  /** By name. */
  list(): { name: string; changedAt: number; isUsable: boolean }[] {
    const rows = [...this.rows.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
    return rows.map(({ name, changedAt }) => ({ name, changedAt, isUsable: this.values.has(name) }));
  }

  /** Adds or replaces; answers whether it is new. @throws INVALID_REQUEST */
  async set(name: string, value: string): Promise<boolean> {
    if (!NAME.test(name))
      throw new AppError(
        'INVALID_REQUEST',
        'The name of a secret is a letter or "_", then at most 63 letters, digits or any of "_ . -".',
      );
    if (value.length < MIN_LENGTH || value.length > MAX_LENGTH)
      throw new AppError(
        'INVALID_REQUEST',
        `A secret has ${MIN_LENGTH} to ${MAX_LENGTH} characters; a shorter one could not be blanked in logs.`,
      );
    const { store, sealer, onKnown } = this.options;
    onKnown([value]);
    const row = { name, sealed: await sealer.seal(name, value), changedAt: Date.now() };
    await store.put(row);
    const isNew = !this.rows.has(name);
    this.rows.set(name, row);
    this.values.set(name, value);
    return isNew;
  }

  /** @throws NOT_FOUND */
  async remove(name: string): Promise<void> {
    if (!this.rows.has(name)) throw new AppError('NOT_FOUND', `There is no secret "${name}".`);
    await this.options.store.remove(name);
    this.rows.delete(name);
    this.values.delete(name);
  }

  private async take(row: SecretRow): Promise<void> {
    this.rows.set(row.name, row);
    try {
      this.values.set(row.name, await this.options.sealer.unseal(row.name, row.sealed));
    } catch {
      // The library says no more than that it failed.
      this.options.log.warn(
        `The secret "${row.name}" cannot be opened: it was sealed with another key than this MCP_SECRETS_KEY or secrets.key.`,
      );
    }
  }
}
