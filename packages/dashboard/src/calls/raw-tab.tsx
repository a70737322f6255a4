import type { CallDetails } from '@mcpbridge/shared/call-row.js';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { request } from '../net/request';
import { RecordButton } from '../recordings/record-button';
import { type Frame, Frames } from './frames';
import { Payload } from './payload';

interface Recorded {
  recording?: string;
  frames: Frame[];
}

/** The call as JSON: its frames where they were recorded, else what was asked and answered; and the whole record. */
export function RawTab({ call }: { call: CallDetails }) {
  const { arguments: args, result, ...record } = call;
  const { data } = useQuery({
    queryKey: ['frames', call.id],
    queryFn: () => request<Recorded>(`/api/calls/${encodeURIComponent(call.id)}/frames`),
    retry: false,
  });
  const asked = { method: 'tools/call', params: { name: call.tool, arguments: args } };
  return (
    <div className="stack">
      {data?.recording ? (
        <>
          <Frames frames={data.frames} />
          <p>
            <Link to={`/recordings/${encodeURIComponent(data.recording)}` as never}>The whole recording</Link>
          </p>
        </>
      ) : (
        <>
          <div className="note row wrap">
            <span className="grow">
              Frames are kept while a session is recorded, and this one was not: below is what its record has.
            </span>
            <RecordButton session={call.session} />
          </div>
          <Payload title="Request" value={asked} bytes={call.in} levels={4} />
          {result === undefined ? null : <Payload title="Answer" value={result} bytes={call.resultBytes} />}
        </>
      )}
      <Payload title="Record" value={record} />
    </div>
  );
}
