import { chmodSync, mkdirSync } from 'node:fs';
import { tokenFile } from '@mcpbridge/shared/locate.js';
import { secretFile } from '@mcpbridge/shared/secret-file.js';

/** Reads the owner's token, or makes one on first start; the file is 0600 in a 0700 folder. */
export function ownerToken(home: string): string {
  mkdirSync(home, { recursive: true, mode: 0o700 });
  chmodSync(home, 0o700);
  return secretFile(tokenFile(home));
}
