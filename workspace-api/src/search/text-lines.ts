import { fstatSync, type Stats } from 'node:fs';
import { linesOf } from './lines.js';
import { isReadable } from './match-file.js';
import { openInside } from './open-inside.js';

export interface TextFile {
  stats: Stats;
  /** None where it is no text, is too large, or may be read under another name only. */
  lines: string[];
}

/** A file as it is read to be indexed; undefined: it is gone. */
export function readText(root: string, path: string, maxBytes: number): TextFile | undefined {
  return openInside(root, path, (descriptor) => {
    const stats = fstatSync(descriptor);
    if (!isReadable(descriptor) || stats.size > maxBytes) return { stats, lines: [] };
    return { stats, lines: [...linesOf(descriptor, () => false)].filter((line) => typeof line === 'string') };
  });
}
