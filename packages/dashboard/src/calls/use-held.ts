import { type RefObject, useEffect, useRef } from 'react';
import type { CallStore } from './call-store';

export type HoldReason =
  | 'scrolled'
  | 'pointer on rows'
  | 'call open'
  | 'focus in list'
  | 'text selected'
  | 'held by P';

const POINTER_MS = 3000;

interface HoldOptions {
  store: CallStore;
  scroller: RefObject<HTMLElement | null>;
  isOpen: boolean;
}

export interface Hold {
  /** Held by P until P is pressed again. */
  byKey: boolean;
  /** The newest number that is shown while the list is held. */
  top: number | undefined;
  /** The newest one that is on screen: what is newer has come since, and must not push it away when the list is held. */
  shown: number | undefined;
  /** Why the list does not follow now; settles `top` on the way. */
  settle(): HoldReason | undefined;
  /** To the newest ones, once, whatever holds. */
  release(): void;
}

/** Who points, reads, selects or scrolls holds the list: nothing moves under a reader. */
export function useHold({ store, scroller, isOpen }: HoldOptions): Hold {
  const pointer = useRef({ moved: 0, timer: 0 });
  const open = useRef(isOpen);
  open.current = isOpen;
  const hold = useRef<Hold>(undefined);
  hold.current ??= {
    byKey: false,
    top: undefined,
    shown: undefined,
    settle() {
      const reason = reasonOf();
      if (reason === undefined) this.top = undefined;
      else this.top ??= this.shown ?? store.newest;
      return reason;
    },
    release() {
      this.byKey = false;
      this.top = undefined;
      this.shown = undefined;
      pointer.current.moved = 0;
      if (scroller.current) scroller.current.scrollTop = 0;
      store.touch();
    },
  };
  const reasonOf = (): HoldReason | undefined => {
    const list = scroller.current;
    if (hold.current?.byKey) return 'held by P';
    if (!list) return undefined;
    if (list.scrollTop > 0) return 'scrolled';
    if (open.current) return 'call open';
    if (list.contains(document.activeElement) && list.matches(':focus-within') && list.dataset.active)
      return 'focus in list';
    if (Date.now() - pointer.current.moved < POINTER_MS) return 'pointer on rows';
    const selection = document.getSelection();
    if (selection && !selection.isCollapsed && list.contains(selection.anchorNode)) return 'text selected';
    return undefined;
  };
  useEffect(() => {
    const list = scroller.current;
    if (!list) return;
    const onMove = () => {
      pointer.current.moved = Date.now();
      hold.current?.settle();
      clearTimeout(pointer.current.timer);
      pointer.current.timer = window.setTimeout(() => store.touch(), POINTER_MS + 20);
    };
    const onScroll = () => {
      const before = hold.current?.top;
      hold.current?.settle();
      if (before !== hold.current?.top) store.touch();
    };
    list.addEventListener('pointermove', onMove);
    list.addEventListener('pointerdown', onMove);
    list.addEventListener('scroll', onScroll, { passive: true });
    return () => {
      list.removeEventListener('pointermove', onMove);
      list.removeEventListener('pointerdown', onMove);
      list.removeEventListener('scroll', onScroll);
      clearTimeout(pointer.current.timer);
    };
  }, [store, scroller]);
  return hold.current;
}
