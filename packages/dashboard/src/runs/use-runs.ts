import type { Limits, RunState, Usage } from '@mcpbridge/shared/conversation.js';
import type { JsonObject } from '@mcpbridge/shared/json-rpc.js';
import { useQuery } from '@tanstack/react-query';
import { request } from '../net/request';

/** Of `GET /api/agent/runs`. */
export interface RunInfo {
  run_id: string;
  conversation_id: string;
  state: RunState;
  message: string;
  /** The entry that it goes on from. */
  after?: number;
  answer?: string;
  data?: unknown;
  stopped?: string;
  error?: { code: string; message: string };
  proposals?: string[];
  strategy: string;
  because: string;
  backend: string;
  session_id: string;
  allowed_prefixes?: string[];
  limits: Limits;
  usage: Usage;
  started_at: string;
  ended_at?: string;
}

export interface ConversationInfo {
  conversation_id: string;
  title: string;
  mission?: string;
  session_id: string;
  created_at: string;
  updated_at: string;
}

export interface EntryInfo {
  seq: number;
  run_id: string;
  at: string;
  kind: string;
}

export interface WholeConversation extends ConversationInfo {
  runs: RunInfo[];
  entries: EntryInfo[];
}

export interface MissionInfo {
  name: string;
  description?: string;
  inputs?: Record<string, JsonObject>;
  /** Why it cannot be used. */
  fault?: string;
}

const LOOK_EVERY_MS = 3000;

/** Conversations, used last first, each with its newest run. */
export function useConversations() {
  return useQuery({
    queryKey: ['agent', 'list'],
    queryFn: async () => {
      const [{ conversations }, { runs }] = await Promise.all([
        request<{ conversations: ConversationInfo[] }>('/api/agent/conversations?limit=200'),
        request<{ runs: RunInfo[] }>('/api/agent/runs?limit=200'),
      ]);
      const newest = new Map<string, RunInfo>();
      for (const run of runs) if (!newest.has(run.conversation_id)) newest.set(run.conversation_id, run);
      return conversations.map((one) => ({ ...one, newest: newest.get(one.conversation_id) }));
    },
    refetchInterval: LOOK_EVERY_MS,
  });
}

export function useConversation(id: string) {
  return useQuery({
    queryKey: ['agent', 'conversation', id],
    queryFn: () => request<WholeConversation>(`/api/agent/conversations/${encodeURIComponent(id)}`),
    retry: false,
  });
}

export function useBackends() {
  return useQuery({
    queryKey: ['agent', 'backends'],
    queryFn: () =>
      request<{ backends: { name: string; isDefault: boolean }[]; missions: MissionInfo[] }>(
        '/api/agent/backends',
      ),
  });
}

/** What is shown of a run's state; the shapes are those of calls. */
export const MARKS: Record<RunState, string> = {
  running: 'running',
  waiting: 'waiting',
  done: 'ok',
  failed: 'failed',
  cancelled: 'cancelled',
};

export const isOver = ({ state }: Pick<RunInfo, 'state'>): boolean =>
  state !== 'running' && state !== 'waiting';
