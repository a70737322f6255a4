import type { ReactNode } from 'react';
import { useAddress } from '../address/address';

interface SplitListProps {
  title: string;
  /** What is looked for, for who does not see the field: "Find servers". */
  find: string;
  /** Beside the field. */
  actions?: ReactNode;
  children: ReactNode;
}

/** The left side of a view whose right side is one of its things: a title, words to find, and the list. */
export function SplitList({ title, find, actions, children }: SplitListProps) {
  const { search, set } = useAddress();
  return (
    <section className="split-list" aria-label={title}>
      <header>
        <h1>{title}</h1>
        <input
          className="field find-line"
          aria-label={find}
          placeholder="find"
          value={search.find ?? ''}
          onChange={(event) => set({ find: event.target.value || undefined }, { replace: true })}
        />
        {actions}
      </header>
      {children}
    </section>
  );
}
