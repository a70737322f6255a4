import { closeSync, openSync, readSync } from 'node:fs';

/**
 * So many random bytes as hex, from the system's own source. `node:crypto` has the same ones and would take a tenth
 * of the bridge's whole start to load; it is used where there is no such file.
 */
export function randomHex(bytes: number): string {
  const buffer = Buffer.alloc(bytes);
  try {
    const file = openSync('/dev/urandom', 'r');
    readSync(file, buffer);
    closeSync(file);
    return buffer.toString('hex');
  } catch {
    // Windows.
    return process.getBuiltinModule('node:crypto').randomBytes(bytes).toString('hex');
  }
}
