import { join } from 'node:path';
import { AppError } from '@mcpbridge/shared/errors.js';
import { secretFile } from '@mcpbridge/shared/secret-file.js';

/** The given key, else that of a 0600 file of the home folder, which is made at the first start. */
export function sealingKey({
  secretsKey,
  home,
}: {
  secretsKey: Uint8Array | undefined;
  home: string;
}): Uint8Array {
  return secretsKey ?? Buffer.from(secretFile(join(home, 'secrets.key')), 'base64url');
}

/** 32 bytes in Base64 or as 64 hexadecimal digits. @throws CONFIG_INVALID */
export function readSealingKey(name: string, text: string): Uint8Array {
  const bytes = Buffer.from(text, /^[0-9a-f]{64}$/i.test(text) ? 'hex' : 'base64');
  if (bytes.length === 32) return bytes;
  throw new AppError(
    'CONFIG_INVALID',
    `${name} must be 32 bytes in Base64 or hexadecimal; "openssl rand -base64 32" makes one.`,
  );
}
