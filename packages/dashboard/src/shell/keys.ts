import { useEffect, useRef } from 'react';
import { preferences } from './preferences';

export interface KeyBinding {
  /** As `event.key`, single ones in lower case; `shift+f` for those with a modifier, `g l` for two in a row. */
  keys: string;
  /** What it does, for the help and the palette. */
  label: string;
  run(): void;
}

const bound: { current: readonly KeyBinding[] }[] = [];
let first: { key: string; at: number } | undefined;

/** Keys of a view while it is on screen; the view that came last goes first. */
export function useKeys(bindings: readonly KeyBinding[]): void {
  const latest = useRef(bindings);
  latest.current = bindings;
  useEffect(() => {
    bound.push(latest);
    return () => {
      bound.splice(bound.indexOf(latest), 1);
    };
  }, []);
}

export const allBindings = (): KeyBinding[] => [...bound].reverse().flatMap(({ current }) => [...current]);

const MOVES = new Set(['ArrowUp', 'ArrowDown', 'PageUp', 'PageDown', 'Home', 'End', 'Enter', 'Escape', ' ']);

window.addEventListener('keydown', (event) => {
  if (event.defaultPrevented || event.isComposing) return;
  const name = nameOf(event);
  if (name !== 'mod+k' && !mayAct(event)) return;
  const pair = first && Date.now() - first.at < 1500 ? `${first.key} ${name}` : undefined;
  const bindings = allBindings();
  const found =
    (pair && bindings.find(({ keys }) => keys === pair)) || bindings.find(({ keys }) => keys === name);
  first =
    !pair && bindings.some(({ keys }) => keys.startsWith(`${name} `))
      ? { key: name, at: Date.now() }
      : undefined;
  if (!found) return;
  event.preventDefault();
  found.run();
});

function nameOf(event: KeyboardEvent): string {
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (event.ctrlKey || event.metaKey) return `mod+${key}`;
  if (event.altKey) return `alt+${key}`;
  const isLetter = key.length === 1 && key !== key.toUpperCase();
  return event.shiftKey && (isLetter || key.length > 1) ? `shift+${key}` : key;
}

/** Single keys are off in fields, in dialogs and menus, and where the user has switched them off. */
function mayAct({ target, key }: KeyboardEvent): boolean {
  if (!(target instanceof Element)) return true;
  if (target.closest('input, textarea, select, [contenteditable], .cm-editor, .editor-host')) return false;
  if (target.closest('dialog, [role=menu], [role=listbox]')) return false;
  if (MOVES.has(key))
    return target.closest('button, a, [role=tab], summary, [role=tree]') === null || key === 'Escape';
  return preferences().singleKeys;
}
