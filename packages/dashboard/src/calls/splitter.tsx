import { type KeyboardEvent, type PointerEvent, useState } from 'react';

const KEY = 'orchestrator.panel';
const bounded = (share: number) => Math.max(25, Math.min(70, share));

export function usePanelShare(): [number, (share: number) => void] {
  const [share, setShare] = useState(() => bounded(Number(localStorage.getItem(KEY)) || 44));
  const set = (next: number) => {
    setShare(bounded(next));
    localStorage.setItem(KEY, String(Math.round(bounded(next))));
  };
  return [share, set];
}

/** Between list and panel; by pointer or by arrows. */
export function Splitter({ share, onShare }: { share: number; onShare(share: number): void }) {
  const drag = (event: PointerEvent) => {
    if (!event.currentTarget.hasPointerCapture(event.pointerId)) return;
    const box = event.currentTarget.parentElement?.getBoundingClientRect();
    if (box) onShare(((box.right - event.clientX) / box.width) * 100);
  };
  const onKey = (event: KeyboardEvent) => {
    const step = { ArrowLeft: 2, ArrowRight: -2 }[event.key];
    if (step) onShare(share + step);
  };
  return (
    <div
      className="splitter"
      role="separator"
      aria-orientation="vertical"
      aria-label="Width of the panel"
      aria-valuenow={Math.round(share)}
      aria-valuemin={25}
      aria-valuemax={70}
      tabIndex={0}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={drag}
      onKeyDown={onKey}
    />
  );
}
