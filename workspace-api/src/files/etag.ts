import type { BigIntStats } from 'node:fs';
import { AppError } from '@mcpbridge/shared/errors.js';
import { quoted } from '../root/paths.js';

/** Another file (each write makes a new one), another time or another size is another tag. */
export function etagOf({ ino, mtimeNs, size }: BigIntStats): string {
  return `"${ino.toString(36)}-${mtimeNs.toString(36)}-${size.toString(36)}"`;
}

/** What a request says about the version it expects: `If-Match`, `If-None-Match`. */
export interface Conditions {
  ifMatch?: string | undefined;
  ifNoneMatch?: string | undefined;
}

/** @throws PRECONDITION_FAILED; `stats` undefined: there is no file. */
export function checkConditions(
  { ifMatch, ifNoneMatch }: Conditions,
  stats: BigIntStats | undefined,
  path: string,
): void {
  const etag = stats && etagOf(stats);
  if (ifMatch !== undefined && !names(ifMatch, etag))
    throw new AppError(
      'PRECONDITION_FAILED',
      `${quoted(path)} is not the version that If-Match names: ${stats ? 'somebody wrote it meanwhile' : 'it is not there'}. Read it again.`,
      { details: { etag: etag ?? null } },
    );
  if (ifNoneMatch !== undefined && names(ifNoneMatch, etag))
    throw new AppError(
      'PRECONDITION_FAILED',
      `${quoted(path)} is there already, which If-None-Match rules out.`,
      {
        details: { etag },
      },
    );
}

/** A header's list of tags, or `*` for any. */
export function names(list: string, etag: string | undefined): boolean {
  if (etag === undefined) return false;
  return list.split(',').some((one) => one.trim() === '*' || one.trim().replace(/^W\//, '') === etag);
}
