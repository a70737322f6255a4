import { readFile } from 'node:fs/promises';
import { messageOf } from '@mcpbridge/shared/errors.js';
import { isObject } from '@mcpbridge/shared/json-rpc.js';
import { parseConfig, type ServerMap } from './config-file.js';

/** One of the two files as it was read last. */
export interface FileState {
  /** undefined: there is none. */
  text: string | undefined;
  /** The last content that could be used. */
  servers: ServerMap;
  faults: readonly string[];
  usable: boolean;
}

export const NOTHING: FileState = { text: undefined, servers: new Map(), faults: [], usable: true };

/** Reads a file anew; content that cannot be used leaves the servers of before in use. */
export async function readState(file: string, before: FileState): Promise<FileState> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (isObject(error) && error.code === 'ENOENT') return NOTHING;
    const { servers } = before;
    return {
      text: undefined,
      servers,
      usable: false,
      faults: [`"${file}" cannot be read: ${messageOf(error)}.`],
    };
  }
  if (text === before.text) return before;
  const content = parseConfig(text, file);
  if (typeof content !== 'string') return { text, ...content, usable: true };
  return { text, servers: before.servers, usable: false, faults: [`${content} ${kept(before)}`] };
}

function kept({ servers }: FileState): string {
  return servers.size > 0 ? 'The servers that it had before stay in use.' : 'No server is read from it.';
}
