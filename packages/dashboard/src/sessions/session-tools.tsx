import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ListedTool } from '../calls/use-tool-of';
import { request } from '../net/request';
import { inert } from '../text/inert';
import { standing } from '../tools/patterns';
import { Failure, Loading } from '../ui/states';
import type { SessionInfo } from './use-sessions';

const MOST = 300;

/** What it may call, what needs a yes, what not, each with the rule that says so. */
export function SessionTools({ session }: { session: SessionInfo }) {
  const [words, setWords] = useState('');
  const { data, error } = useQuery({
    queryKey: ['tools', 'all'],
    queryFn: () => request<{ tools: ListedTool[] }>('/api/tools'),
    staleTime: 10_000,
  });
  if (error) return <Failure error={error} />;
  if (!data) return <Loading what="its tools" />;
  const tools = data.tools.map((tool) => ({ tool, ...standing(session.policy, tool) }));
  const shown = tools.filter(({ tool, is }) =>
    `${tool.name} ${is}`.toLowerCase().includes(words.toLowerCase()),
  );
  const may = tools.filter(({ is }) => is !== 'denied').length;
  return (
    <div className="stack">
      <div className="row wrap">
        <span className="grow">
          {may} of {tools.length} tools
        </span>
        <input
          className="field find"
          aria-label="Find tools"
          placeholder="find"
          value={words}
          onChange={(event) => setWords(event.target.value)}
        />
      </div>
      <div className="scroll-x">
        <table className="table">
          <thead>
            <tr>
              <th>Tool</th>
              <th>May it</th>
              <th>Rule</th>
            </tr>
          </thead>
          <tbody>
            {shown.slice(0, MOST).map(({ tool, is, by }) => (
              <tr key={tool.name}>
                <td className="mono">{inert(tool.name)}</td>
                <td className={is === 'denied' ? 'deny-text' : is === 'allowed' ? '' : 'wait-text'}>{is}</td>
                <td className="mono dim">{inert(by)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {shown.length > MOST ? <p className="dim">{shown.length - MOST} more: find them by words.</p> : null}
    </div>
  );
}
