import { useSyncExternalStore } from 'react';

const PAUSE_MS = 500;
const listeners = new Set<() => void>();
let lockedUntil = 0;

const tell = () => {
  for (const listener of listeners) listener();
};

/** Right after a decision nothing can be decided: a double click is meant for one card. At once, not with the next paint. */
export function isLocked(): boolean {
  return Date.now() < lockedUntil;
}

export function lock(): void {
  lockedUntil = Date.now() + PAUSE_MS;
  tell();
  setTimeout(tell, PAUSE_MS + 10);
}

export function useIsLocked(): boolean {
  return useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, isLocked);
}
