import { useMemo, useState } from 'react';
import { useAddress } from '../address/address';
import { Dialog } from '../ui/dialog';
import { allBindings } from './keys';
import { PLACES } from './places';

interface Choice {
  label: string;
  keys?: string;
  run(): void;
}

/** Go to or do anything, by its name; shows the key of each. */
export function Palette({ onClose }: { onClose(): void }) {
  const { go } = useAddress();
  const [words, setWords] = useState('');
  const [at, setAt] = useState(0);
  const choices = useMemo<Choice[]>(() => {
    const places = PLACES.map(({ label, path, key }) => ({
      label: `Go to ${label}`,
      keys: `G ${key.toUpperCase()}`,
      run: () => go(path),
    }));
    const known = new Set(places.map(({ keys }) => keys.toLowerCase()));
    const actions = allBindings().filter(({ keys }) => keys !== 'mod+k' && !known.has(keys.toLowerCase()));
    return [...places, ...actions.map(({ label, keys, run }) => ({ label, keys: shownKeys(keys), run }))];
  }, [go]);
  const wanted = words.trim().toLowerCase();
  const hits: Choice[] = choices.filter(({ label }) => label.toLowerCase().includes(wanted));
  if (wanted !== '')
    hits.push(
      { label: `Find calls with “${words.trim()}”`, run: () => go('/', { q: words.trim() }) },
      { label: `Find tools for “${words.trim()}”`, run: () => go('/tools', { find: words.trim() }) },
    );
  const chosen = Math.min(at, hits.length - 1);
  const take = (choice: Choice | undefined) => {
    onClose();
    choice?.run();
  };
  return (
    <Dialog title="Go to or do" onClose={onClose} className="palette">
      <input
        data-first
        className="field"
        aria-label="What to go to or do"
        role="combobox"
        aria-expanded
        aria-controls="palette-list"
        aria-activedescendant={`palette-${chosen}`}
        value={words}
        placeholder="Type a view, an action, a call, a tool …"
        onChange={(event) => {
          setWords(event.target.value);
          setAt(0);
        }}
        onKeyDown={(event) => {
          const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
          if (step) setAt((chosen + step + hits.length) % hits.length);
          else if (event.key === 'Enter') take(hits[chosen]);
          else return;
          event.preventDefault();
        }}
      />
      <div id="palette-list" role="listbox" aria-label="Choices">
        {hits.map((choice, index) => (
          <div
            key={`${choice.label}${choice.keys}`}
            id={`palette-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === chosen}
            onClick={() => take(choice)}
            onPointerMove={() => setAt(index)}
          >
            <span className="grow">{choice.label}</span>
            {choice.keys ? <kbd>{choice.keys}</kbd> : null}
          </div>
        ))}
      </div>
    </Dialog>
  );
}

export function shownKeys(keys: string): string {
  return keys
    .replace('mod+', 'Ctrl ')
    .replace('shift+', 'Shift ')
    .replace('Escape', 'Esc')
    .replace('ArrowDown', '↓')
    .replace('ArrowUp', '↑')
    .replace(/(^| )([a-z])$/g, (_, before, letter) => before + letter.toUpperCase())
    .replace(/^([a-z]) /, (letter) => letter.toUpperCase());
}
