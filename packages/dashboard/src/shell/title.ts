import { useEffect } from 'react';

const parts = { view: 'Live', waiting: 0 };
const show = () => {
  document.title = `${parts.waiting > 0 ? `(${parts.waiting}) ` : ''}${parts.view} · Orchestrator`;
};

/** The view's name in the title, with what waits for a person before it. */
export function useTitle(view: string): void {
  useEffect(() => {
    parts.view = view;
    show();
  }, [view]);
}

export function titleWaiting(waiting: number): void {
  parts.waiting = waiting;
  show();
}
