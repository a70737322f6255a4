import { posix } from 'node:path';
import { type Guard, isWithin, ownFolderGuard } from '@mcpbridge/shared/folder-guard.js';
import type { SessionPolicy } from '@mcpbridge/shared/policy.js';

/** As much of a session as its guard is made from. */
export interface Guarded {
  readonly sessionId: string;
  readonly policy: SessionPolicy;
}

/**
 * What a session may do in the workspace, from its policy and those of all above it, the topmost first. The topmost has
 * its own folder unless it was given others. Each below has what that one has, and of the folders that it was given
 * those that lie within.
 */
export function folderGuard(chain: readonly Guarded[]): Guard {
  const [top, ...below] = chain;
  let guard = topmost(top as Guarded);
  for (const one of below) guard = narrowed(guard, one);
  return guard;
}

function topmost({ sessionId, policy: { folders = {}, env = {}, network = 'none' } }: Guarded): Guard {
  const own = ownFolderGuard(sessionId);
  const isGiven = folders.read !== undefined || folders.write !== undefined;
  const guard = isGiven
    ? { ...own, home: '', read: plain('', folders.read), write: plain('', folders.write) }
    : own;
  return { ...guard, blocked: plain(guard.home, folders.blocked), env, network };
}

function narrowed(above: Guard, { sessionId, policy }: Guarded): Guard {
  const { folders = {}, env = {}, network = above.network } = policy;
  const guard: Guard = {
    ...above,
    sessionId,
    blocked: [...above.blocked, ...plain(above.home, folders.blocked)],
    env: { ...above.env, ...env },
    network: above.network === 'none' ? 'none' : network,
  };
  if (folders.read === undefined && folders.write === undefined) return guard;
  const read = plain(above.home, folders.read);
  const write = plain(above.home, folders.write);
  const readable = [...above.read, ...above.write];
  // What it wants to write and the one above may only read, it may read.
  return { ...guard, read: common(readable, [...read, ...write]), write: common(above.write, write) };
}

/** The folders that lie in one of each. */
function common(some: readonly string[], others: readonly string[]): string[] {
  const both = some.flatMap((one) =>
    others.flatMap((other) => {
      if (isWithin(one, other)) return [one];
      return isWithin(other, one) ? [other] : [];
    }),
  );
  return [...new Set(both)];
}

function plain(home: string, folders: readonly string[] = []): string[] {
  return folders.map((folder) => {
    const path = posix.join(home, folder).replace(/\/+$/, '');
    return path === '.' ? '' : path;
  });
}
