import type { Conversation, Entry, Run } from '@mcpbridge/shared/conversation.js';
import type { JsonObject } from '@mcpbridge/shared/json-rpc.js';
import { nameOf } from './pictures.js';

const time = (at: number) => new Date(at).toISOString();

/** A run as it is told outside. */
export function shownRun(run: Run): JsonObject {
  const { id, conversationId, message, state, strategy, because, brains, usage, proposals } = run;
  const { answer, data, stopped, error, startedAt, endedAt, allowedPrefixes, limits, agentSession, after } =
    run;
  return {
    run_id: id,
    conversation_id: conversationId,
    state,
    message,
    ...(after === undefined ? {} : { after }),
    ...(answer === undefined ? {} : { answer }),
    ...(data === undefined ? {} : { data }),
    ...(stopped === undefined ? {} : { stopped }),
    ...(error === undefined ? {} : { error }),
    ...(proposals === undefined ? {} : { proposals }),
    strategy,
    because,
    backend: brains[0],
    session_id: agentSession,
    ...(allowedPrefixes === undefined ? {} : { allowed_prefixes: allowedPrefixes }),
    limits,
    usage,
    started_at: time(startedAt),
    ...(endedAt === undefined ? {} : { ended_at: time(endedAt) }),
  };
}

export function shownConversation(conversation: Conversation): JsonObject {
  const { id, title, mission, sessionId, createdAt, updatedAt } = conversation;
  return {
    conversation_id: id,
    title,
    ...(mission === undefined ? {} : { mission }),
    session_id: sessionId,
    created_at: time(createdAt),
    updated_at: time(updatedAt),
  };
}

/** An entry as it is told outside: without what only a brain understands, and of images what they are. */
export function shownEntry(entry: Entry): JsonObject {
  const { seq, runId, at, kind, ...content } = entry;
  const { raw, pictures, ...told } = { raw: undefined, pictures: undefined, ...content };
  const named = pictures ? { pictures: pictures.map(nameOf) } : {};
  return { seq, run_id: runId, at: time(at), kind, ...told, ...named };
}
