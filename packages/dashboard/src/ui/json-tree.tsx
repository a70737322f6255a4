import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, useDeferredValue, useEffect, useMemo, useRef, useState } from 'react';
import { inert } from '../text/inert';
import { bytes, count } from '../text/units';
import { findIn, type JsonRow, rowsOf } from './json-rows';

const LINE = 22;
/** Strings above this fold, with their size beside them. */
const FOLD_AT = 2048;

interface JsonTreeProps {
  value: unknown;
  label: string;
  find?: string;
  /** Pointers to be marked, with how. */
  marks?: ReadonlyMap<string, 'added' | 'removed' | 'changed'>;
  maxHeight?: number;
  /** Levels that are open at first. */
  levels?: number;
}

/** A document as a tree of which only the lines on screen exist, so that ten megabytes open like ten bytes. */
export function JsonTree(props: JsonTreeProps) {
  const { value, label, marks, maxHeight = 360, levels = 2 } = props;
  // Ten megabytes are not searched anew before each letter is shown.
  const find = useDeferredValue(props.find ?? '');
  const [toggled, setToggled] = useState<ReadonlyMap<string, boolean>>(new Map());
  const [active, setActive] = useState(0);
  const scroller = useRef<HTMLDivElement>(null);
  const found = useMemo(() => (find === '' ? undefined : findIn(value, find)), [value, find]);
  const rows = useMemo(() => {
    const few = (depth: number) => depth < levels;
    return rowsOf(
      value,
      (path, depth) =>
        found?.around.has(path) || (toggled.get(path) ?? (few(depth) && sizeAt(value, path) <= 100)),
    );
  }, [value, toggled, found, levels]);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => LINE,
    overscan: 15,
  });
  const hits = useMemo(() => new Set(found?.hits), [found]);
  const [hit, setHit] = useState(0);
  const toHit = (number: number) => {
    const path = found?.hits[number];
    const index = path === undefined ? -1 : rows.findIndex((row) => row.path === path);
    if (index < 0) return;
    setHit(number);
    setActive(index);
    virtual.scrollToIndex(index, { align: 'center' });
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: other words, and no other cause, lead to their first place
  useEffect(() => toHit(0), [found]);
  const toggle = (row: JsonRow, open = !row.isOpen) => setToggled(new Map(toggled).set(row.path, open));
  const go = (index: number) => {
    const next = Math.max(0, Math.min(rows.length - 1, index));
    setActive(next);
    virtual.scrollToIndex(next);
  };
  const act = (key: string, row: JsonRow): boolean => {
    const last = rows.length - 1;
    const isShut = row.size !== undefined && row.size > 0 && !row.isOpen;
    if (key === 'ArrowDown') go(active + 1);
    else if (key === 'ArrowUp') go(active - 1);
    else if (key === 'Home') go(0);
    else if (key === 'End') go(last);
    else if (key === 'ArrowRight') isShut ? toggle(row, true) : go(active + 1);
    else if (key === 'ArrowLeft') row.isOpen ? toggle(row, false) : go(parentOf(rows, active));
    else if (key === 'Enter' && row.size !== undefined) toggle(row);
    else return false;
    return true;
  };
  const onKey = (event: KeyboardEvent) => {
    const row = rows[active];
    if (!row) return;
    if (!act(event.key, row)) return;
    event.preventDefault();
    event.stopPropagation();
  };
  const items = virtual.getVirtualItems();
  return (
    <>
      {found ? (
        <p className="dim row" role="status">
          {found.hits.length === 0
            ? `Nothing holds “${find}”.`
            : `${count(hit + 1)} of ${count(found.hits.length)} found`}
          {found.hits.length > 1 ? (
            <button
              type="button"
              className="button quiet small"
              onClick={() => toHit((hit + 1) % found.hits.length)}
            >
              Next
            </button>
          ) : null}
        </p>
      ) : null}
      <div
        ref={scroller}
        className="json"
        role="tree"
        aria-label={label}
        tabIndex={0}
        aria-activedescendant={`${label}-${active}`}
        onKeyDown={onKey}
        style={{ maxHeight, height: Math.min(maxHeight, rows.length * LINE + 10) }}
      >
        <div role="presentation" style={{ height: virtual.getTotalSize() }}>
          <div role="presentation" style={{ transform: `translateY(${items[0]?.start ?? 0}px)` }}>
            {items.map(({ index }) => {
              const row = rows[index];
              if (!row) return null;
              return (
                <div
                  key={row.path}
                  id={`${label}-${index}`}
                  role="treeitem"
                  tabIndex={-1}
                  aria-level={row.depth + 1}
                  aria-expanded={row.size ? row.isOpen : undefined}
                  aria-selected={index === active}
                  className={`json-row ${marks?.get(row.path) ?? ''} ${hits.has(row.path) ? 'hit' : ''}`}
                  style={{ paddingLeft: 4 + row.depth * 14 }}
                  onClick={() => {
                    setActive(index);
                    if (row.size !== undefined) toggle(row);
                  }}
                >
                  <Line row={row} mark={marks?.get(row.path)} />
                </div>
              );
            })}
          </div>
        </div>
      </div>
    </>
  );
}

function Line({ row, mark }: { row: JsonRow; mark: string | undefined }) {
  const [whole, setWhole] = useState(false);
  const { name, value, size, isOpen } = row;
  const label =
    name === undefined ? null : (
      <span className={typeof name === 'number' ? 'dim' : 'k'}>{inert(String(name))} </span>
    );
  const said = mark ? <span className="hidden-text">{mark} </span> : null;
  if (size !== undefined) {
    const [open, close] = Array.isArray(value) ? '[]' : '{}';
    return (
      <>
        <span className="twist" aria-hidden>
          {size > 0 ? (isOpen ? '▾' : '▸') : ''}
        </span>
        {said}
        {label}
        <span className="dim">
          {open}
          {size}
          {close}
        </span>
      </>
    );
  }
  const kind = value === null ? 'nil' : typeof value;
  const text = typeof value === 'string' ? value : String(value);
  const isLong = text.length > FOLD_AT;
  return (
    <>
      <span className="twist" aria-hidden />
      {said}
      {label}
      <span className={`v ${kind}`}>
        {kind === 'string' ? `"${inert(oneLine(isLong && !whole ? text.slice(0, 200) : text))}"` : text}
      </span>
      {isLong ? (
        <button
          type="button"
          className="button link"
          onClick={(event) => {
            event.stopPropagation();
            setWhole(!whole);
          }}
        >
          {whole ? 'fold' : `show ${bytes(text.length)}`}
        </button>
      ) : null}
    </>
  );
}

const oneLine = (text: string) => text.replaceAll('\n', '↵').replaceAll('\t', '⇥');

function sizeAt(root: unknown, path: string): number {
  let value: unknown = root;
  for (const part of path.split('/').slice(1))
    value = (value as Record<string, unknown>)[part.replaceAll('~1', '/').replaceAll('~0', '~')];
  return Array.isArray(value) ? value.length : Object.keys(value as object).length;
}

function parentOf(rows: readonly JsonRow[], index: number): number {
  const depth = rows[index]?.depth ?? 0;
  for (let at = index - 1; at >= 0; at--) if ((rows[at]?.depth ?? 0) < depth) return at;
  return 0;
}
