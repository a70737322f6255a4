import type { CallRow as Call } from '@mcpbridge/shared/call-row.js';
import { useVirtualizer } from '@tanstack/react-virtual';
import {
  type MouseEvent,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react';
import { useKeys } from '../shell/keys';
import { usePreferences } from '../shell/preferences';
import { count } from '../text/units';
import { isBad, isOver } from './call';
import { CallRow } from './call-row';
import type { CallStore } from './call-store';
import { columnLayout } from './columns';
import { eachItsRow, Folds, type Rows } from './folds';
import { useHold } from './use-held';

interface CallListProps {
  store: CallStore;
  /** Id of the call that is open beside the list. */
  open: string | undefined;
  onOpen(id: string | undefined): void;
  /** The end of what is loaded has come near. */
  onEnd(): void;
  marked: readonly string[];
  /** Keys that act on the row under the cursor. */
  actions: readonly { keys: string; label: string; run(call: Call): void }[];
  /** `cols=` of the address. */
  columns: string | undefined;
  /** By how much the orchestrator's clock is ahead of this one's. */
  clockAhead: number;
  label: string;
}

/** All calls that are loaded, newest on top, of which some fifty rows exist. */
export function CallList(props: CallListProps) {
  const { store, open, onOpen, onEnd, marked, actions, columns, clockAhead, label } = props;
  useSyncExternalStore(store.subscribe, store.snapshot);
  const scroller = useRef<HTMLDivElement>(null);
  const hold = useHold({ store, scroller, isOpen: open !== undefined });
  const reason = hold.settle();
  const openPlace = open === undefined ? undefined : store.placeOf(open);
  // A call that somebody goes to is shown, also where it is newer than what is held.
  if (hold.top !== undefined && openPlace !== undefined && openPlace > hold.top) hold.top = openPlace;
  const top = hold.top ?? store.newest;
  const behind = store.newest - top;
  const { density, fold } = usePreferences();
  const folds = useMemo(() => new Folds(store), [store]);
  if (fold) folds.settle(top, reason !== undefined);
  const lines: Rows = fold ? folds : eachItsRow(store.first, top);
  const shown = lines.count;
  const callAt = (index: number) => {
    const place = lines.placeOf(index);
    return place === undefined ? undefined : store.at(place);
  };
  const height = density === 'roomy' ? 36 : 28;
  const isNarrow = useNarrow();
  const rowHeight = isNarrow ? 52 : height;
  const [active, setActive] = useState(store.left?.active);
  const activeIndex = active === undefined ? undefined : lines.indexOf(active);
  const virtual = useVirtualizer({
    count: shown,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 15,
    initialOffset: store.left?.scrollTop ?? 0,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is measured depends on it
  useEffect(() => virtual.measure(), [virtual, rowHeight]);
  const latest = useRef({ top, active });
  latest.current = { top, active };
  hold.shown = top;
  useLayoutEffect(() => {
    const list = scroller.current;
    if (list && store.left) {
      hold.top = store.left.top;
      list.scrollTop = store.left.scrollTop;
      store.touch();
    }
    let scrollTop = list?.scrollTop ?? 0;
    const onScroll = () => {
      scrollTop = list?.scrollTop ?? 0;
    };
    list?.addEventListener('scroll', onScroll, { passive: true });
    return () => {
      list?.removeEventListener('scroll', onScroll);
      store.left = scrollTop > 0 ? { ...latest.current, scrollTop } : undefined;
    };
  }, [store, hold]);
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (last > shown - 100) onEnd();
  }, [last, shown, onEnd]);

  const now = useTick(items.some(({ index }) => isRunning(callAt(index)))) + clockAhead;
  const row = (index: number) => {
    const place = lines.placeOf(index);
    const call = callAt(index);
    if (place === undefined || !call) return null;
    return (
      <CallRow
        key={place}
        call={call}
        place={place}
        isActive={index === activeIndex}
        isOpen={openPlace !== undefined && index === lines.indexOf(openPlace)}
        many={lines.sizeOf(index)}
        isMarked={marked.includes(call.id)}
        elapsed={isOver(call) ? undefined : Math.max(0, now - call.at)}
      />
    );
  };

  const moveTo = (index: number) => {
    if (shown === 0) return;
    const at = Math.max(0, Math.min(shown - 1, index));
    // First, for the list takes its first row when the focus comes to it.
    scroller.current?.focus({ preventScroll: true });
    setActive(lines.placeOf(at));
    virtual.scrollToIndex(at);
    const call = callAt(at);
    if (open !== undefined && call) onOpen(call.id);
  };
  const current = () => {
    const place = active ?? openPlace;
    return place === undefined ? undefined : { call: store.at(place), index: lines.indexOf(place) };
  };
  const step = (by: number) => moveTo((current()?.index ?? (by > 0 ? -1 : shown)) + by);
  const page = () => Math.max(1, Math.floor((scroller.current?.clientHeight ?? 0) / rowHeight) - 1);
  const onCall = (act: (call: Call) => void) => () => {
    const call = current()?.call;
    if (call) act(call);
  };
  const toFailure = () => {
    const from = current()?.index ?? -1;
    for (let index = from + 1; index < shown; index++) {
      const call = callAt(index);
      if (call && isBad(call)) return moveTo(index);
    }
  };
  useKeys([
    { keys: 'j', label: 'Next call', run: () => step(1) },
    { keys: 'k', label: 'Call before', run: () => step(-1) },
    { keys: 'ArrowDown', label: 'Next call', run: () => step(1) },
    { keys: 'ArrowUp', label: 'Call before', run: () => step(-1) },
    { keys: 'PageDown', label: 'A page on', run: () => step(page()) },
    { keys: 'PageUp', label: 'A page back', run: () => step(-page()) },
    { keys: 'Home', label: 'First call', run: () => moveTo(0) },
    { keys: 'End', label: 'Last call', run: () => moveTo(shown - 1) },
    { keys: 'Enter', label: 'Open the call', run: onCall(({ id }) => onOpen(id)) },
    { keys: ' ', label: 'Peek', run: onCall(({ id }) => onOpen(id === open ? undefined : id)) },
    { keys: 'e', label: 'Next failure', run: toFailure },
    {
      keys: 't',
      label: 'To the newest',
      run: () => {
        setActive(undefined);
        hold.release();
      },
    },
    {
      keys: 'p',
      label: 'Hold the list, or let it go',
      run: () => {
        hold.byKey = !hold.byKey;
        store.touch();
      },
    },
    ...actions.map(({ keys, label: words, run }) => ({ keys, label: words, run: onCall(run) })),
    {
      keys: 'Escape',
      label: 'Back',
      run: () => (open === undefined ? leave() : onOpen(undefined)),
    },
  ]);
  const leave = () => {
    setActive(undefined);
    scroller.current?.blur();
    store.touch();
  };
  const onClick = (event: MouseEvent) => {
    const place = placeUnder(event);
    const call = place === undefined ? undefined : store.at(place);
    if (place === undefined || !call || document.getSelection()?.type === 'Range') return;
    setActive(place);
    onOpen(call.id);
  };
  const layout = columnLayout(columns);
  const isActiveAway = activeIndex !== undefined && !items.some(({ index }) => index === activeIndex);
  return (
    <div className={`list-frame ${layout.className}`} style={layout.style}>
      {reason !== undefined && (behind > 0 || hold.byKey) ? (
        <button
          type="button"
          className="pill"
          onClick={() => {
            setActive(undefined);
            hold.release();
          }}
        >
          <strong>{count(behind)} new</strong> · held: {reason} · <kbd>T</kbd> shows them
        </button>
      ) : null}
      <div className="r head" aria-hidden>
        <span />
        <span className="t">Time</span>
        <span className="s">Session</span>
        <span className="tool">Tool</span>
        <span className="a">Arguments, or what went wrong</span>
        <span className="d">Duration</span>
        <span className="z">Size</span>
      </div>
      <div
        ref={scroller}
        className="scroller"
        role="grid"
        aria-label={label}
        aria-rowcount={shown}
        aria-readonly
        tabIndex={0}
        data-active={active === undefined ? undefined : 'true'}
        aria-activedescendant={activeIndex === undefined ? undefined : `call-${lines.placeOf(activeIndex)}`}
        onClick={onClick}
        onFocus={(event) =>
          event.target.matches(':focus-visible') &&
          active === undefined &&
          shown > 0 &&
          setActive(lines.placeOf(firstSeen(scroller.current, rowHeight)))
        }
      >
        <div className="runway" role="presentation" style={{ height: shown * rowHeight }}>
          <div role="rowgroup" style={{ transform: `translateY(${items[0]?.start ?? 0}px)` }}>
            {items.map(({ index }) => row(index))}
          </div>
          {isActiveAway && activeIndex >= 0 && activeIndex < shown ? (
            <div
              className="away"
              role="rowgroup"
              style={{ transform: `translateY(${activeIndex * rowHeight}px)` }}
            >
              {row(activeIndex)}
            </div>
          ) : null}
        </div>
      </div>
    </div>
  );
}

const isRunning = (call: Call | undefined) => call !== undefined && !isOver(call);

function placeUnder(event: MouseEvent): number | undefined {
  const row = event.target instanceof Element ? event.target.closest<HTMLElement>('[data-place]') : null;
  return row ? Number(row.dataset.place) : undefined;
}

const firstSeen = (list: HTMLElement | null, rowHeight: number) =>
  Math.ceil((list?.scrollTop ?? 0) / rowHeight);

/** The time, again four times a second while something runs. */
function useTick(isNeeded: boolean): number {
  const [, again] = useState(0);
  useEffect(() => {
    if (!isNeeded) return;
    const timer = setInterval(() => !document.hidden && again((tick) => tick + 1), 250);
    return () => clearInterval(timer);
  }, [isNeeded]);
  return Date.now();
}

const narrow = window.matchMedia('(max-width: 640px)');
const onNarrow = (listener: () => void) => {
  narrow.addEventListener('change', listener);
  return () => narrow.removeEventListener('change', listener);
};

export function useNarrow(): boolean {
  return useSyncExternalStore(onNarrow, () => narrow.matches);
}
