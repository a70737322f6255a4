import type { CallDetails } from '@mcpbridge/shared/call-row.js';
import { useAddress } from '../address/address';
import { Tabs } from '../ui/tabs';
import { isOver } from './call';
import { CallFacts } from './call-facts';
import { CompareTab } from './compare-tab';
import { Notes } from './notes';
import { Payload } from './payload';
import { RawTab } from './raw-tab';
import { ResultView } from './result-view';
import { TimingBar } from './timing-bar';

export function CallTabs({ call, onCompare }: { call: CallDetails; onCompare?(other: string): void }) {
  const { search, set } = useAddress();
  const notes = call.notes ?? [];
  const tabs = [
    { id: 'overview', label: 'Overview' },
    { id: 'timing', label: 'Timing' },
    { id: 'messages', label: 'Messages', badge: notes.length },
    { id: 'raw', label: 'Raw' },
    ...(call.replayOf || call.replays?.length ? [{ id: 'compare', label: 'Compare' }] : []),
  ];
  const chosen = tabs.some(({ id }) => id === search.tab) ? (search.tab as string) : 'overview';
  return (
    <Tabs
      label="Of this call"
      tabs={tabs}
      chosen={chosen}
      onChoose={(id) => set({ tab: id === 'overview' ? undefined : id }, { replace: true })}
    >
      {chosen === 'overview' ? (
        <div className="stack">
          <ReplayNote call={call} />
          <Payload title="Arguments" value={call.arguments} bytes={call.in} cut={call.argumentsCut} />
          <ResultView call={call} />
          {isOver(call) ? <TimingBar call={call} /> : null}
          <CallFacts call={call} />
        </div>
      ) : null}
      {chosen === 'timing' ? <TimingBar call={call} isWhole /> : null}
      {chosen === 'messages' ? <Notes call={call} /> : null}
      {chosen === 'raw' ? <RawTab call={call} /> : null}
      {chosen === 'compare' ? <CompareTab call={call} onCompare={onCompare} /> : null}
    </Tabs>
  );
}

function ReplayNote({ call }: { call: CallDetails }) {
  const { set } = useAddress();
  if (!call.replayOf) return null;
  return (
    <p className="note row wrap">
      <span className="grow">This is a replay of an earlier call.</span>
      <button type="button" className="button" onClick={() => set({ tab: 'compare' })}>
        See the difference
      </button>
    </p>
  );
}
