import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type Frame, Frames } from '../calls/frames';
import { Payload } from '../calls/payload';
import { request } from '../net/request';
import { inert } from '../text/inert';
import { count, duration } from '../text/units';
import { Dialog } from '../ui/dialog';
import { type Column, PickTable } from '../ui/pick-table';
import { Failure, Loading } from '../ui/states';
import { StatusMark } from '../ui/status-mark';
import type { OpenedRecording, RecordedCallRow } from './use-recordings';

/** Above this only the first are in the table; words find the others. */
const MOST = 500;

/** The calls of a recording in the order in which they ended; each opens with its frames. */
export function RecordedCalls({ recording }: { recording: OpenedRecording }) {
  const [words, setWords] = useState('');
  const [open, setOpen] = useState<RecordedCallRow>();
  const shown = recording.calls.filter(({ name }) => name.toLowerCase().includes(words.toLowerCase()));
  const columns: Column<RecordedCallRow>[] = [
    { title: 'After', isNumber: true, cell: ({ at }) => duration(at) },
    {
      title: 'Tool',
      cell: (call) => (
        <span className="row">
          <StatusMark status={call.failed ? 'failed' : 'ok'} />
          <button type="button" className="button link mono" onClick={() => setOpen(call)}>
            {inert(`${call.server} · ${call.tool}`)}
          </button>
        </span>
      ),
    },
    { title: 'Duration', isNumber: true, cell: ({ ms }) => duration(ms) },
  ];
  if (recording.calls.length === 0) return <p className="said">No call was recorded.</p>;
  return (
    <div className="stack">
      <input
        className="field find"
        aria-label="Find calls"
        placeholder="find"
        value={words}
        onChange={(event) => setWords(event.target.value)}
      />
      <PickTable
        columns={columns}
        rows={shown.slice(0, MOST)}
        keyOf={({ id }) => id}
        chosen={open?.id}
        onPick={(call) => setOpen(call)}
      />
      {shown.length > MOST ? (
        <p className="dim">{count(shown.length - MOST)} more: find them by words.</p>
      ) : null}
      {open ? (
        <Dialog
          title={inert(`${open.server} · ${open.tool}`)}
          onClose={() => setOpen(undefined)}
          className="wide"
        >
          <RecordedCall recording={recording.name} id={open.id} />
        </Dialog>
      ) : null}
    </div>
  );
}

interface WholeCall {
  arguments: unknown;
  result?: unknown;
  error?: unknown;
  frames: Frame[];
}

function RecordedCall({ recording, id }: { recording: string; id: string }) {
  const { data, error } = useQuery({
    queryKey: ['recordings', recording, id],
    queryFn: () =>
      request<WholeCall>(`/api/recordings/${encodeURIComponent(recording)}/calls/${encodeURIComponent(id)}`),
    retry: false,
  });
  if (error) return <Failure error={error} />;
  if (!data) return <Loading what="the call" />;
  return (
    <div className="stack">
      <Payload title="Arguments" value={data.arguments} />
      {data.result === undefined ? (
        <Payload title="Failure" value={data.error} />
      ) : (
        <Payload title="Result" value={data.result} />
      )}
      <Frames frames={data.frames} />
    </div>
  );
}
