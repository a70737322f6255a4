import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { AppError } from '@mcpbridge/shared/errors.js';
import { lock } from 'proper-lockfile';
import { type AccountRecord, readRecord } from './account-record.js';

/** Encrypts what lies on the disk; `what` is bound to it. */
export interface Seal {
  seal(what: string, text: string): Promise<string>;
  /** Rejects when it was sealed with another key, or as another thing. */
  unseal(what: string, sealed: string): Promise<string>;
}

/** Whoever holds the lock asks a login service, which has this long; then somebody else takes over. */
const STALE_MS = 15_000;
const RETRY_MS = 100;
const WAIT_MS = 45_000;

/** The record of one account: one file that only this user can read, with a lock that all processes of the machine share. */
export class TokenFile {
  constructor(
    readonly path: string,
    private readonly url: string,
    private readonly seal: Seal,
  ) {}

  private get name(): string {
    return `tokens of ${this.url}`;
  }

  /** Empty where there is no file, or it is of another server. */
  async read(): Promise<AccountRecord> {
    let text: string;
    try {
      text = await readFile(this.path, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
      throw error;
    }
    try {
      // As another program left it there.
      const isPlain = text.trimStart().startsWith('{');
      const json = isPlain ? text : await this.seal.unseal(this.name, text);
      return readRecord(JSON.parse(json), this.url);
    } catch (cause) {
      const name = basename(this.path);
      const sentence = `The tokens in "${name}" cannot be read: the file is damaged, or was encrypted with another key. Delete it and sign in again.`;
      throw new AppError('CONFIG_INVALID', sentence, { cause });
    }
  }

  /** Only while locked. */
  async write(record: AccountRecord): Promise<void> {
    const whole = `${this.path}.${randomBytes(4).toString('hex')}.new`;
    try {
      const sealed = await this.seal.seal(this.name, JSON.stringify({ ...record, url: this.url }));
      await writeFile(whole, sealed, { mode: 0o600 });
      await rename(whole, this.path);
    } finally {
      await rm(whole, { force: true });
    }
  }

  /** One after the other among all processes of this machine; the lock of one that died is taken over after 15 s. */
  async locked<T>(work: () => Promise<T>): Promise<T> {
    const folder = dirname(this.path);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const release = await lock(this.path, {
      realpath: false,
      lockfilePath: join(folder, `.${basename(this.path)}.lock`),
      stale: STALE_MS,
      retries: { retries: WAIT_MS / RETRY_MS, factor: 1, minTimeout: RETRY_MS, maxTimeout: RETRY_MS },
      // A process that was stopped for that long: what it writes now is older than what is there, or the same.
      onCompromised: () => undefined,
    }).catch((cause) => {
      throw new AppError('SIGN_IN_UNAVAILABLE', `Another process keeps "${basename(this.path)}" locked.`, {
        cause,
      });
    });
    try {
      return await work();
    } finally {
      await release().catch(() => undefined); // it was taken over
    }
  }

  async change(change: (record: AccountRecord) => AccountRecord): Promise<AccountRecord> {
    return this.locked(async () => {
      const record = change(await this.read());
      await this.write(record);
      return record;
    });
  }

  async remove(): Promise<void> {
    await this.locked(() => rm(this.path, { force: true }));
  }
}
