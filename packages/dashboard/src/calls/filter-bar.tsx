import { parseCallFilter, writeCallFilter } from '@mcpbridge/shared/call-filter.js';
import { Search, X } from 'lucide-react';
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import { useKeys } from '../shell/keys';
import { inert } from '../text/inert';
import { withoutTerm } from './filter-words';
import { suggestionsFor, useSuggestions } from './suggestions';

interface FilterBarProps {
  query: string;
  onChange(query: string, how: { replace: boolean }): void;
}

/** Pieces that can be clicked away, a field for more, and what is wrong with what does not read as a filter. */
export function FilterBar({ query, onChange }: FilterBarProps) {
  const [text, setText] = useState(query);
  const [isOpen, setOpen] = useState(false);
  const [at, setAt] = useState(-1);
  const field = useRef<HTMLInputElement>(null);
  const written = useRef(query);
  const listId = useId();
  useEffect(() => {
    if (query === written.current) return;
    written.current = query;
    setText(query);
  }, [query]);
  useKeys([{ keys: '/', label: 'Filter', run: () => field.current?.focus() }]);
  const { terms, faults } = parseCallFilter(text);
  const write = (next: string, replace: boolean) => {
    setText(next);
    if (next === written.current) return;
    written.current = next;
    onChange(next, { replace });
  };
  // Typing waits for a pause: each change opens a new stream.
  useEffect(() => {
    if (text === written.current) return;
    const timer = setTimeout(() => {
      written.current = text;
      onChange(text, { replace: true });
    }, 250);
    return () => clearTimeout(timer);
  }, [text, onChange]);
  const word = /\S*$/.exec(text)?.[0] ?? '';
  const suggestions = suggestionsFor(word, useSuggestions(isOpen, word, text));
  const take = (value: string) => {
    const next = `${text.slice(0, text.length - word.length)}${value}`;
    setAt(-1);
    if (value.endsWith(':')) setText(next);
    else write(`${next} `, false);
    field.current?.focus();
  };
  const onKey = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && isOpen && suggestions.length > 0)
      setAt((at + step + suggestions.length) % suggestions.length);
    else if (event.key === 'Enter' && at >= 0 && suggestions[at]) take(suggestions[at].insert);
    else if (event.key === 'Enter') write(text.trim(), false);
    else if (event.key === 'Escape') {
      setOpen(false);
      field.current?.blur();
    } else return;
    event.preventDefault();
  };
  return (
    <search
      className="filter"
      onBlur={(event) => !event.currentTarget.contains(event.relatedTarget) && setOpen(false)}
    >
      <div className="filter-line">
        <Search size={16} strokeWidth={1.5} aria-hidden />
        <input
          ref={field}
          className="filter-field mono"
          aria-label="Filter calls"
          role="combobox"
          aria-expanded={isOpen && suggestions.length > 0}
          aria-controls={listId}
          aria-activedescendant={at >= 0 ? `${listId}-${at}` : undefined}
          aria-invalid={faults.length > 0}
          spellCheck={false}
          autoComplete="off"
          placeholder="Filter: words, server:github, status:failed, dur:>1s, -tool:list_*"
          value={text}
          onFocus={() => setOpen(true)}
          onChange={(event) => {
            setText(event.target.value);
            setOpen(true);
            setAt(-1);
          }}
          onKeyDown={onKey}
        />
        {text === '' ? (
          <kbd aria-hidden>/</kbd>
        ) : (
          <button
            type="button"
            className="icon-button"
            aria-label="Clear the filter"
            onClick={() => write('', false)}
          >
            <X size={16} strokeWidth={1.5} aria-hidden />
          </button>
        )}
      </div>
      {terms.length > 0 ? (
        <ul className="chips" aria-label="Pieces of the filter">
          {terms.map((term, index) => (
            <li key={`${term.start}-${term.key}`}>
              <button
                type="button"
                className={`chip mono${term.not ? ' not' : ''}`}
                title="Take this piece away"
                onClick={() => write(withoutTerm(text, index), false)}
              >
                {inert(writeCallFilter([term]))}
                <X size={12} strokeWidth={1.5} aria-label="take away" />
              </button>
            </li>
          ))}
        </ul>
      ) : null}
      {faults.map((fault) => (
        <p className="err-text" role="alert" key={fault.start}>
          <code>{inert(text.slice(fault.start, fault.end))}</code>: {fault.message}
        </p>
      ))}
      {isOpen && suggestions.length > 0 ? (
        <div className="suggestions" id={listId} role="listbox" aria-label="Suggestions">
          {suggestions.map((suggestion, index) => (
            <div
              key={suggestion.insert}
              id={`${listId}-${index}`}
              role="option"
              tabIndex={-1}
              aria-selected={index === at}
              onPointerDown={(event) => event.preventDefault()}
              onClick={() => take(suggestion.insert)}
            >
              <code className="grow cut">{inert(suggestion.insert)}</code>
              <span className="dim">{suggestion.note}</span>
            </div>
          ))}
        </div>
      ) : null}
    </search>
  );
}
