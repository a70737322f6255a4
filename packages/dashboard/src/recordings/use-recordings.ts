import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { messageOf, request } from '../net/request';

/** One of `GET /api/recordings`. */
export interface ListedRecording {
  name: string;
  file: string;
  bytes: number;
  recordedAt: string;
  /** The session that is being written down in it now. */
  running?: string;
}

/** Of `GET /api/recordings/{name}/calls`. */
export interface RecordedCallRow {
  id: string;
  /** Milliseconds after the start of the recording. */
  at: number;
  name: string;
  server: string;
  tool: string;
  ms: number;
  failed?: true;
}

export interface OpenedRecording {
  name: string;
  session: string;
  startedAt: string;
  tools: number;
  frames: number;
  calls: RecordedCallRow[];
}

export function useRecordings() {
  return useQuery({
    queryKey: ['recordings'],
    queryFn: () => request<{ recordings: ListedRecording[] }>('/api/recordings'),
    refetchInterval: 5000,
    select: ({ recordings }) => recordings,
  });
}

export function useRecording(name: string) {
  return useQuery({
    queryKey: ['recordings', name],
    queryFn: () => request<OpenedRecording>(`/api/recordings/${encodeURIComponent(name)}/calls`),
    retry: false,
  });
}

/** Begins and ends the recording of a session. */
export function useRecorder(session: string) {
  const queries = useQueryClient();
  const [fault, setFault] = useState<string>();
  const running = useRecordings().data?.find((one) => one.running === session);
  const toggle = () =>
    request(`/api/sessions/${encodeURIComponent(session)}/recording`, {
      method: running ? 'DELETE' : 'POST',
    })
      .then(
        () => setFault(undefined),
        (error) => setFault(messageOf(error)),
      )
      .finally(() => void queries.invalidateQueries({ queryKey: ['recordings'] }));
  return { running, toggle, fault };
}
