import { randomBytes } from 'node:crypto';
import { chmodSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { AppError } from './errors.js';

/** Reads a secret, or makes one where there is none yet; only this user can read the file. */
export function secretFile(file: string): string {
  const whole = `${file}.${process.pid}.new`;
  writeFileSync(whole, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600 });
  try {
    // Of two first starts at once one succeeds, and the other reads a file that is whole.
    linkSync(whole, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(whole, { force: true });
  }
  chmodSync(file, 0o600);
  const secret = readFileSync(file, 'utf8').trim();
  if (secret.length >= 32) return secret;
  throw new AppError('CONFIG_INVALID', `${file} holds no token; delete it and start again to get a new one.`);
}
