import { ChevronDown } from 'lucide-react';
import { DropdownMenu } from 'radix-ui';
import type { ReactNode } from 'react';

export interface MenuEntry {
  label: string;
  /** Shown beside it, so that the menu teaches it. */
  keys?: string;
  isChosen?: boolean;
  run(): void;
}

/** A button with a menu; not modal, since a modal one injects a style element that the CSP refuses. */
export function Menu({ label, entries, quiet }: { label: ReactNode; entries: MenuEntry[]; quiet?: boolean }) {
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger className={`button${quiet ? ' quiet' : ''}`}>
        {label}
        <ChevronDown size={14} strokeWidth={1.5} aria-hidden />
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content className="menu" align="start" sideOffset={4}>
          {entries.map((entry) => (
            <DropdownMenu.Item key={entry.label} className="menu-item" onSelect={() => entry.run()}>
              <span className="menu-tick" aria-hidden>
                {entry.isChosen ? '✓' : ''}
              </span>
              <span className="grow">{entry.label}</span>
              {entry.isChosen ? <span className="hidden-text">(chosen)</span> : null}
              {entry.keys ? <kbd>{entry.keys}</kbd> : null}
            </DropdownMenu.Item>
          ))}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}
