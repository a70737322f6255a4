import { useSyncExternalStore } from 'react';

/** What this browser remembers of how its user likes the page; nothing of calls is ever stored. */
export interface Preferences {
  theme: 'system' | 'light' | 'dark';
  density: 'dense' | 'roomy';
  /** Calls that are alike and follow each other have one row. */
  fold: boolean;
  singleKeys: boolean;
  notices: boolean;
}

const KEY = 'orchestrator.preferences';
const DEFAULTS: Preferences = {
  theme: 'system',
  density: 'dense',
  fold: false,
  singleKeys: true,
  notices: false,
};
const listeners = new Set<() => void>();
const dark = window.matchMedia('(prefers-color-scheme: dark)');
let current = load();

function load(): Preferences {
  try {
    return { ...DEFAULTS, ...JSON.parse(localStorage.getItem(KEY) ?? '{}') };
  } catch {
    return DEFAULTS; // Storage that is switched off or broken costs the preferences alone.
  }
}

export const preferences = (): Preferences => current;

export function prefer(change: Partial<Preferences>): void {
  current = { ...current, ...change };
  try {
    localStorage.setItem(KEY, JSON.stringify(current));
  } catch {
    // Kept for this tab.
  }
  show();
  for (const listener of listeners) listener();
}

export function usePreferences(): Preferences {
  return useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, preferences);
}

function show(): void {
  const isDark = current.theme === 'dark' || (current.theme === 'system' && dark.matches);
  document.documentElement.dataset.theme = isDark ? 'dark' : 'light';
  document.documentElement.dataset.density = current.density;
}

show();
dark.addEventListener('change', show);
