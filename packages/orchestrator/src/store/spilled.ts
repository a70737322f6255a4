import { mkdirSync, writeFileSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { redactByKey } from '@mcpbridge/shared/redact.js';
import type { Hide } from '@mcpbridge/shared/secrets.js';

export type ReadStream = ReturnType<Awaited<ReturnType<typeof open>>['createReadStream']>;

/** Results too large for the table, each whole in a file that only this user can read. */
export class Spilled {
  constructor(private readonly folder: string) {}

  /** Ids are random at their end; two hundred and fifty-six folders keep each small. */
  fileOf(id: string): string {
    return join(this.folder, id.slice(-2), `${id}.json`);
  }

  /** The result as JSON; undefined when it is not there. */
  async open(id: string): Promise<ReadStream | undefined> {
    const file = await open(this.fileOf(id)).catch(() => undefined);
    return file?.createReadStream();
  }

  async forget(id: string): Promise<void> {
    await rm(this.fileOf(id), { force: true });
  }
}

/** In the scribe's thread. */
export function writeSpilled(file: string, result: unknown, hide: Hide): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const text = JSON.stringify(
    redactByKey(result, { characters: Number.POSITIVE_INFINITY, depth: 200, hide }),
  );
  writeFileSync(file, text, { mode: 0o600 });
}
