import { useVirtualizer } from '@tanstack/react-virtual';
import { useDeferredValue, useRef, useState } from 'react';
import { useAddress } from '../address/address';
import type { ListedTool } from '../calls/use-tool-of';
import { useSessions } from '../sessions/use-sessions';
import { useKeys } from '../shell/keys';
import { useTitle } from '../shell/title';
import { inert } from '../text/inert';
import { count } from '../text/units';
import { Empty, Failure, Loading } from '../ui/states';
import { Hints } from './hints';
import { ToolDetail } from './tool-detail';
import { useToolSearch } from './use-tool-search';

/** What a session can call, how a model sees it, and does it work. */
export default function ToolsView() {
  const { search, set } = useAddress();
  const { find = '', tool: chosen, session } = search;
  const words = useDeferredValue(find.trim());
  const { data, error, refetch } = useToolSearch(words, session);
  const { data: sessions = [] } = useSessions();
  const field = useRef<HTMLInputElement>(null);
  useTitle('Tools');
  useKeys([
    { keys: '/', label: 'Find tools', run: () => field.current?.focus() },
    { keys: 'Escape', label: 'Back', run: () => set({ tool: undefined }) },
  ]);
  const servers = new Set(data?.map(({ server }) => server).filter(Boolean)).size;
  const tool = data?.find(({ name }) => name === chosen);
  return (
    <div className="split">
      <section className="split-list" aria-label="Tools">
        <header>
          <h1>Tools</h1>
          <input
            ref={field}
            className="field find-line grow"
            aria-label="Find tools"
            placeholder="find as a model would: create an issue"
            value={find}
            onChange={(event) => set({ find: event.target.value || undefined }, { replace: true })}
          />
          <label className="row">
            <span className="dim">view as</span>
            <select
              className="field"
              value={session ?? ''}
              onChange={(event) => set({ session: event.target.value || undefined })}
            >
              <option value="">the house</option>
              {sessions.slice(0, 200).map(({ id }) => (
                <option key={id} value={id}>
                  {inert(id).slice(0, 60)}
                </option>
              ))}
            </select>
          </label>
        </header>
        <p className="dim" role="status">
          {data
            ? words === ''
              ? `${count(data.length)} tools of ${servers} servers`
              : `${count(data.length)} found, best first`
            : ''}
        </p>
        {error && !data ? <Failure error={error} retry={() => void refetch()} /> : null}
        {!data && !error ? <Loading what="tools" /> : null}
        {data?.length === 0 ? (
          <Empty title={words === '' ? 'No tools' : `Nothing is found for “${inert(words)}”`}>
            <p>
              {words === ''
                ? 'No server is ready, or the session may use nothing.'
                : 'Other words may find it: names, descriptions and parameters are searched.'}
            </p>
          </Empty>
        ) : null}
        {data && data.length > 0 ? (
          <ToolList tools={data} chosen={chosen} onChoose={(name) => set({ tool: name, tab: undefined })} />
        ) : null}
      </section>
      {tool ? (
        <ToolDetail key={tool.name} tool={tool} session={session} onClose={() => set({ tool: undefined })} />
      ) : null}
      {chosen && data && !tool ? (
        <aside className="split-detail" aria-label="Tool">
          <div className="panel-body">
            <p className="said">
              There is no tool <code>{inert(chosen)}</code> here, or not with these words.
            </p>
            <button type="button" className="button" onClick={() => set({ find: undefined })}>
              Show all tools
            </button>
          </div>
        </aside>
      ) : null}
    </div>
  );
}

interface ToolListProps {
  tools: readonly ListedTool[];
  chosen: string | undefined;
  onChoose(name: string): void;
}

function ToolList({ tools, chosen, onChoose }: ToolListProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const [focused, setFocused] = useState(-1);
  const virtual = useVirtualizer({
    count: tools.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 40,
    overscan: 12,
  });
  const items = virtual.getVirtualItems();
  const step = (index: number, by: number) => {
    const next = Math.max(0, Math.min(tools.length - 1, index + by));
    virtual.scrollToIndex(next);
    setFocused(next);
    requestAnimationFrame(() =>
      scroller.current?.querySelector<HTMLElement>(`[data-index="${next}"]`)?.focus(),
    );
  };
  return (
    <div className="tool-list" ref={scroller}>
      <div style={{ height: virtual.getTotalSize() }}>
        <div style={{ transform: `translateY(${items[0]?.start ?? 0}px)` }}>
          {items.map(({ index }) => {
            const tool = tools[index];
            if (!tool) return null;
            return (
              <button
                key={tool.name}
                type="button"
                className="tool-row"
                data-index={index}
                tabIndex={index === Math.max(0, focused) || tool.name === chosen ? 0 : -1}
                aria-current={tool.name === chosen}
                onClick={() => onChoose(tool.name)}
                onKeyDown={(event) => {
                  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
                  if (!by) return;
                  event.preventDefault();
                  step(index, by);
                }}
              >
                <span className="mono cut tool-name">{inert(tool.name)}</span>
                <span className="dim cut grow">
                  {inert(tool.title ?? tool.description ?? '').slice(0, 200)}
                </span>
                <Hints tool={tool} />
              </button>
            );
          })}
        </div>
      </div>
    </div>
  );
}
