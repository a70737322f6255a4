import { createHash } from 'node:crypto';
import { AppError } from './errors.js';
import type { JsonObject } from './json-rpc.js';
import { compileSchema } from './validate.js';

/**
 * What one session may do in the workspace; made by the orchestrator from its policy, obeyed by the workspace.
 * Folders are relative to WORKSPACE_DIR, `''` is all of it.
 */
export interface Guard {
  sessionId: string;
  /** The folder that paths are relative to, and that commands start in. */
  home: string;
  read: string[];
  /** Readable too. */
  write: string[];
  /** Wins over both. */
  blocked: string[];
  /** For commands alone; sent only where one is run. */
  env: Record<string, string>;
  network: 'none' | 'orchestrator';
}

/** Header of a request to the workspace that carries the guard. */
export const GUARD_HEADER = 'x-workspace-guard';

const folders: JsonObject = { type: 'array', items: { type: 'string' } };
const guardSchema: JsonObject = {
  type: 'object',
  properties: {
    sessionId: { type: 'string' },
    home: { type: 'string' },
    read: folders,
    write: folders,
    blocked: folders,
    env: { type: 'object', additionalProperties: { type: 'string' } },
    network: { enum: ['none', 'orchestrator'] },
  },
  required: ['sessionId', 'home', 'read', 'write', 'blocked', 'env', 'network'],
  additionalProperties: false,
};

/** As text for the header: base64url of JSON, since folders may have any characters. */
export function encodeGuard(guard: Guard): string {
  return Buffer.from(JSON.stringify(guard)).toString('base64url');
}

/** @throws INVALID_REQUEST */
export function decodeGuard(text: string): Guard {
  check ??= compileSchema(guardSchema);
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
  } catch (cause) {
    throw new AppError('INVALID_REQUEST', `The header ${GUARD_HEADER} is not base64url of JSON.`, { cause });
  }
  const faults = check(value);
  if (faults.length === 0) return value as Guard;
  throw new AppError('INVALID_REQUEST', `The header ${GUARD_HEADER} is no guard: ${faults.join('; ')}.`);
}

let check: ReturnType<typeof compileSchema> | undefined;

/** The folder of a session that was given none. Ids have characters that are no file name everywhere, or lead elsewhere. */
export function sessionFolder(sessionId: string): string {
  const isPlain = /^[a-z0-9_][a-z0-9_.-]*$/.test(sessionId);
  // "=" is in no id, so no other session's plain name is this one; capitals are small letters on some file systems.
  const name = isPlain ? sessionId : sessionId.replaceAll(/[^a-z0-9_-]/g, (char) => `=${hex(char)}`);
  return `sessions/${name.length <= 200 ? name : `=${createHash('sha256').update(sessionId).digest('hex')}`}`;
}

function hex(char: string): string {
  return char.charCodeAt(0).toString(16);
}

/** Is it that folder, or below it? Whole names are compared: `work2` is not within `work`. */
export function isWithin(path: string, folder: string): boolean {
  if (folder === '') return true;
  const [inner, outer] = [comparable(path), comparable(folder)];
  return inner === outer || inner.startsWith(`${outer}/`);
}

/** Where file systems do not tell capitals apart, neither may a guard. */
const comparable: (path: string) => string =
  process.platform === 'darwin' || process.platform === 'win32'
    ? (path) => path.normalize('NFC').toLowerCase()
    : (path) => path;

/** What a caller may do that belongs to a session without a policy. */
export function ownFolderGuard(sessionId: string): Guard {
  const home = sessionFolder(sessionId);
  return { sessionId, home, read: [], write: [home], blocked: [], env: {}, network: 'none' };
}
