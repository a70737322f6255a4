import { randomBytes } from 'node:crypto';
import { type FileHandle, open, realpath, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { isObject } from '@mcpbridge/shared/json-rpc.js';
import { applyEdits, modify, parse } from 'jsonc-parser';
import { SERVER_KEYS, type ServerMap } from './config-file.js';

/** The text of an overlay with other servers in it; comments and whatever else it holds stay where they can. */
export function overlayText(before: string | undefined, servers: ServerMap): string {
  let text = before?.replace(/^\uFEFF/, '') ?? '{}';
  const content: unknown = parse(text, [], { allowTrailingComma: true });
  const edit = (path: string[], value: unknown) => {
    const formattingOptions = { insertSpaces: true, tabSize: 2, eol: '\n' };
    text = applyEdits(text, modify(text, path, value, { formattingOptions }));
  };
  const unwritten = new Map(servers);
  for (const key of SERVER_KEYS) {
    const present = isObject(content) ? content[key] : undefined;
    for (const [id, stored] of isObject(present) ? Object.entries(present) : []) {
      if (!unwritten.has(id)) edit([key, id], undefined);
      else if (!isDeepStrictEqual(unwritten.get(id), stored)) edit([key, id], unwritten.get(id));
      unwritten.delete(id);
    }
  }
  for (const [id, raw] of unwritten) edit(['mcpServers', id], raw);
  return text.endsWith('\n') ? text : `${text}\n`;
}

/** Replaces a file in one step, for this user alone: whoever reads it sees the old or the new, never a part. */
export async function replaceFile(file: string, text: string): Promise<void> {
  // A symbolic link stays one; what it points to is replaced.
  const target = await realpath(file).catch(() => file);
  const draft = join(dirname(target), `.${basename(target)}.${randomBytes(6).toString('hex')}.tmp`);
  let handle: FileHandle | undefined;
  try {
    handle = await open(draft, 'wx', 0o600);
    await handle.writeFile(text);
    await handle.sync();
    await handle.close();
    await rename(draft, target);
  } catch (error) {
    await handle?.close();
    await rm(draft, { force: true });
    throw error;
  }
}
