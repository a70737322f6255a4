import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { AppError } from '@mcpbridge/shared/errors.js';
import { tokenFile } from '@mcpbridge/shared/locate.js';

/** Reads the owner's token, or makes one on first start; the file is 0600 in a 0700 folder. */
export function ownerToken(home: string): string {
  mkdirSync(home, { recursive: true, mode: 0o700 });
  chmodSync(home, 0o700);
  const file = tokenFile(home);
  try {
    // `wx`: of two first starts at once, one writes and the other reads.
    writeFileSync(file, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  chmodSync(file, 0o600);
  const token = readFileSync(file, 'utf8').trim();
  if (token.length >= 32) return token;
  throw new AppError('CONFIG_INVALID', `${file} holds no token; delete it and start again to get a new one.`);
}
