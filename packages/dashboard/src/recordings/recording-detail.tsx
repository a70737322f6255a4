import { useQueryClient } from '@tanstack/react-query';
import { Download, Trash2, X } from 'lucide-react';
import { useState } from 'react';
import { useAddress } from '../address/address';
import { messageOf, request } from '../net/request';
import { inert } from '../text/inert';
import { count, shortTime, wholeTime } from '../text/units';
import { Dialog } from '../ui/dialog';
import { Command, Failure, Loading } from '../ui/states';
import { Tabs } from '../ui/tabs';
import { RecordButton } from './record-button';
import { RecordedCalls } from './recorded-calls';
import { ReplayRun } from './replay-run';
import { type ListedRecording, useRecording } from './use-recordings';

interface RecordingDetailProps {
  name: string;
  listed: ListedRecording | undefined;
  onClose(): void;
}

const TABS = [
  { id: 'calls', label: 'Calls' },
  { id: 'replay', label: 'Replay against…' },
  { id: 'serve', label: 'Serve' },
];

export function RecordingDetail({ name, listed, onClose }: RecordingDetailProps) {
  const { search, set } = useAddress();
  const { data, error, refetch } = useRecording(name);
  const chosen = TABS.some(({ id }) => id === search.tab) ? (search.tab as string) : 'calls';
  const path = `/api/recordings/${encodeURIComponent(name)}`;
  return (
    <aside className="split-detail" aria-label="Recording">
      <header className="panel-head row">
        <h2 className="grow cut mono" title={name}>
          {inert(name)}
        </h2>
        <button type="button" className="icon-button" aria-label="Close the recording" onClick={onClose}>
          <X size={16} strokeWidth={1.5} aria-hidden />
        </button>
      </header>
      <div className="panel-body">
        {error ? <Failure error={error} retry={() => void refetch()} /> : null}
        {!data && !error ? <Loading what="the recording" /> : null}
        {data ? (
          <>
            <p className="dim">
              session {inert(data.session)} ·{' '}
              <time title={wholeTime(Date.parse(data.startedAt))}>
                {shortTime(Date.parse(data.startedAt))}
              </time>{' '}
              · {count(data.calls.length)} calls, {count(data.frames)} frames, {count(data.tools)} tools
            </p>
            <div className="row wrap">
              <a className="button" href={path} download={name}>
                <Download size={16} strokeWidth={1.5} aria-hidden /> Download
              </a>
              {listed?.running ? (
                <RecordButton session={listed.running} />
              ) : (
                <Remove name={name} onGone={onClose} />
              )}
            </div>
            <Tabs
              label="Of this recording"
              tabs={TABS}
              chosen={chosen}
              onChoose={(tab) => set({ tab: tab === 'calls' ? undefined : tab }, { replace: true })}
            >
              {chosen === 'calls' ? <RecordedCalls recording={data} /> : null}
              {chosen === 'replay' ? <ReplayRun recording={data} /> : null}
              {chosen === 'serve' ? (
                <div className="stack">
                  <p>
                    As an MCP server over stdio it offers the recorded tools and gives to equal calls the
                    recorded answers: for tests of agents without a network. Put this into a client’s entry:
                  </p>
                  <Command
                    text={`node packages/orchestrator/dist/main.js recording ${listed?.file ?? name}`}
                  />
                </div>
              ) : null}
            </Tabs>
          </>
        ) : null}
      </div>
    </aside>
  );
}

function Remove({ name, onGone }: { name: string; onGone(): void }) {
  const queries = useQueryClient();
  const [isAsking, setAsking] = useState(false);
  const [fault, setFault] = useState<string>();
  const remove = () =>
    request(`/api/recordings/${encodeURIComponent(name)}`, { method: 'DELETE' }).then(
      () => {
        onGone();
        // The list alone: this one is still on screen, and is not to be asked for again.
        void queries.invalidateQueries({ queryKey: ['recordings'], exact: true });
      },
      (error) => setFault(messageOf(error)),
    );
  return (
    <>
      <button type="button" className="button danger" onClick={() => setAsking(true)}>
        <Trash2 size={16} strokeWidth={1.5} aria-hidden /> Remove…
      </button>
      {isAsking ? (
        <Dialog title="Remove the recording?" onClose={() => setAsking(false)}>
          <p>
            <code>{inert(name)}</code> is deleted. This cannot be undone.
          </p>
          {fault ? (
            <p className="note err" role="alert">
              {fault}
            </p>
          ) : null}
          <div className="row">
            <button type="button" className="button" onClick={() => setAsking(false)}>
              Keep it
            </button>
            <button type="button" className="button danger" onClick={() => void remove()}>
              Remove it
            </button>
          </div>
        </Dialog>
      ) : null}
    </>
  );
}
