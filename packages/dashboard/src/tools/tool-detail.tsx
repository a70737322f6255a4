import { Link } from '@tanstack/react-router';
import { X } from 'lucide-react';
import { lazy, Suspense } from 'react';
import { liveLink, useAddress } from '../address/address';
import { Payload } from '../calls/payload';
import type { ListedTool } from '../calls/use-tool-of';
import { ChangedTools } from '../servers/changed-tools';
import { useChangedTools } from '../servers/use-changed-tools';
import { inert } from '../text/inert';
import { InertText } from '../text/inert-text';
import { count } from '../text/units';
import { Loading } from '../ui/states';
import { Tabs } from '../ui/tabs';
import { Hints } from './hints';

const TryForm = lazy(() => import('./try-form'));

interface ToolDetailProps {
  tool: ListedTool;
  session: string | undefined;
  onClose(): void;
}

export function ToolDetail({ tool, session, onClose }: ToolDetailProps) {
  const { search, set } = useAddress();
  const own = ownName(tool);
  const changed = useChangedTools().filter((held) => held.server === tool.server && held.tool === own);
  const seen = {
    name: tool.name,
    title: tool.title,
    description: tool.description,
    inputSchema: tool.inputSchema,
    outputSchema: tool.outputSchema,
    annotations: tool.annotations,
  };
  // About four bytes a token, as for calls: an estimate, and said to be one.
  const tokens = Math.round(
    JSON.stringify({ name: tool.name, description: tool.description, input_schema: tool.inputSchema })
      .length / 4,
  );
  const tabs = [
    { id: 'try', label: 'Try' },
    { id: 'model', label: `As the model sees it, about ${count(tokens)} tokens` },
    { id: 'schema', label: 'Schema' },
    ...(changed.length > 0 ? [{ id: 'changes', label: 'Changes' }] : []),
  ];
  const chosen = tabs.some((tab) => tab.id === search.tab) ? (search.tab as string) : 'try';
  const query = tool.server ? `server:${tool.server} tool:${own}` : `tool:${tool.name}`;
  return (
    <aside className="split-detail" aria-label={`Tool ${tool.name}`}>
      <header className="panel-head row">
        <div className="grow">
          <h2 className="mono">{inert(tool.name)}</h2>
          <Hints tool={tool} />
        </div>
        <Link className="button quiet" to={liveLink(query) as never}>
          Its calls
        </Link>
        <button type="button" className="icon-button" aria-label="Close the tool" onClick={onClose}>
          <X size={16} strokeWidth={1.5} aria-hidden />
        </button>
      </header>
      <div className="panel-body">
        {tool.description ? (
          <p className="tool-words">
            <InertText text={tool.description} />
          </p>
        ) : (
          <p className="said">It has no description.</p>
        )}
        <Tabs
          label="Of this tool"
          tabs={tabs}
          chosen={chosen}
          onChoose={(tab) => set({ tab: tab === 'try' ? undefined : tab }, { replace: true })}
        >
          {chosen === 'try' ? (
            <Suspense fallback={<Loading what="the form" />}>
              <TryForm tool={tool} session={session} query={query} />
            </Suspense>
          ) : null}
          {chosen === 'model' ? (
            <Payload title="As it is listed" value={prune(seen)} maxHeight={600} />
          ) : null}
          {chosen === 'schema' ? (
            <div className="stack">
              <Payload title="Input schema" value={tool.inputSchema} maxHeight={500} />
              {tool.outputSchema ? (
                <Payload title="Output schema" value={tool.outputSchema} maxHeight={400} />
              ) : null}
            </div>
          ) : null}
          {chosen === 'changes' ? <ChangedTools changed={changed} /> : null}
        </Tabs>
      </div>
    </aside>
  );
}

/** The tool's name at its own server, as the log has it. */
export function ownName({ name, server }: ListedTool): string {
  return server && name.startsWith(`${server}__`) ? name.slice(server.length + 2) : name;
}

const prune = (value: object) =>
  Object.fromEntries(Object.entries(value).filter(([, inner]) => inner !== undefined));
