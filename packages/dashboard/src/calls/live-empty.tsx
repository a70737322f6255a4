import { parseCallFilter, writeCallFilter } from '@mcpbridge/shared/call-filter.js';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useClientCommands } from '../settings/client-commands';
import { inert } from '../text/inert';
import { count } from '../text/units';
import { Menu } from '../ui/menu';
import { Command, Empty } from '../ui/states';
import { callCount } from './counts';
import { withoutTerm } from './filter-words';
import { type Range, rangeLabel } from './range';

/** Nothing was ever called: how to make the first call. */
export function ListeningNote() {
  const commands = useClientCommands();
  const [name, setName] = useState('Claude Code');
  const chosen = commands.find((client) => client.name === name);
  return (
    <Empty title="No calls yet">
      <p>Connect an agent; its first call appears here as it happens.</p>
      <div className="row">
        <Menu
          label={name}
          entries={commands.map((client) => ({
            label: client.name,
            isChosen: client.name === name,
            run: () => setName(client.name),
          }))}
        />
        <span className="dim">{chosen?.where}</span>
      </div>
      {chosen ? <Command text={chosen.text} /> : null}
      <p className="dim row" role="status">
        <span className="st running" aria-hidden /> listening …
      </p>
    </Empty>
  );
}

interface NoMatchProps {
  query: string;
  range: Range;
  onDrop(query: string, how: { replace: boolean }): void;
  onAll(): void;
}

/** The filter in words, and for each piece how many calls would be there without it. */
export function NoMatch({ query, range, onDrop, onAll }: NoMatchProps) {
  const { terms } = parseCallFilter(query);
  const without = terms.map((term, index) => ({
    words: writeCallFilter([term]),
    rest: withoutTerm(query, index),
  }));
  const { data = [] } = useQuery({
    queryKey: ['without', query, range],
    queryFn: () => Promise.all(without.map(({ rest }) => callCount(rest, range))),
  });
  return (
    <Empty title="No call fits">
      <p>
        {rangeLabel(range)}
        {query ? (
          <>
            , filter <code>{inert(query)}</code>
          </>
        ) : null}
      </p>
      <ul className="stack">
        {without.map(({ words, rest }, index) => (
          <li className="row" key={words}>
            <button type="button" className="button" onClick={() => onDrop(rest, { replace: false })}>
              Drop <code>{inert(words)}</code>
            </button>
            {data[index] === undefined ? null : <span className="dim">would show {count(data[index])}</span>}
          </li>
        ))}
        {range.kind === 'live' ? null : (
          <li>
            <button type="button" className="button" onClick={onAll}>
              All times
            </button>
          </li>
        )}
      </ul>
    </Empty>
  );
}
