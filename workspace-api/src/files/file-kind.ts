import { isUtf8 } from 'node:buffer';
import type { BigIntStats } from 'node:fs';
import { posix } from 'node:path';
import mime from 'mime-types';

/** What an answer says of one file, folder or link. */
export interface Entry {
  /** As the session calls it. */
  filepath: string;
  type: 'file' | 'folder' | 'link' | 'other';
  size: number;
  mime_type?: string;
  is_image?: boolean;
  last_modified: string;
}

export function entryOf(filepath: string, stats: BigIntStats): Entry {
  const type = typeOf(stats);
  const entry: Entry = { filepath, type, size: Number(stats.size), last_modified: stats.mtime.toISOString() };
  if (type !== 'file') return entry;
  const mimeType = mimeOf(filepath);
  return { ...entry, mime_type: mimeType, is_image: mimeType.startsWith('image/') };
}

function typeOf(stats: BigIntStats): Entry['type'] {
  if (stats.isFile()) return 'file';
  if (stats.isDirectory()) return 'folder';
  return stats.isSymbolicLink() ? 'link' : 'other';
}

/** By the name alone. */
export function mimeOf(path: string): string {
  return mime.lookup(posix.basename(path)) || 'application/octet-stream';
}

/** Is it text that JSON can carry unchanged? */
export function isText(bytes: Buffer): boolean {
  return !bytes.includes(0) && isUtf8(bytes);
}
