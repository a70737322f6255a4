import type { Asker, Assistant } from '@mcpbridge/agent/assistant.js';
import { chatProperties } from '@mcpbridge/agent/assistant-definitions.js';
import { readChat } from '@mcpbridge/agent/assistant-tools.js';
import { limitsSchema, prefixesSchema } from '@mcpbridge/agent/mission-schema.js';
import { readLimits } from '@mcpbridge/agent/missions.js';
import { shownConversation, shownEntry, shownRun } from '@mcpbridge/agent/shown.js';
import type { RunState } from '@mcpbridge/shared/conversation.js';
import { AppError } from '@mcpbridge/shared/errors.js';
import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';
import { compileSchema } from '@mcpbridge/shared/validate.js';
import type { Sessions } from '../../sessions/sessions.js';
import type { PlainRoute, RouteInput } from '../routes.js';
import { writeRun } from '../run-events.js';

const chatSchema: JsonObject = {
  type: 'object',
  properties: { ...chatProperties, allowed_prefixes: prefixesSchema, limits: limitsSchema },
  required: ['message'],
  additionalProperties: false,
};
const RUN_STATES: RunState[] = ['running', 'waiting', 'done', 'failed', 'cancelled'];

const checkChat = compileSchema(chatSchema);

/** The agent over HTTP: what its seven tools do, for pages and scripts. */
export function agentRoutes(assistant: Assistant, sessions: Sessions): PlainRoute[] {
  const asker = async ({ principal, sessionId }: RouteInput): Promise<Asker> => {
    const session = await (sessionId === undefined
      ? sessions.ofPrincipal(principal)
      : sessions.enter(principal, sessionId));
    const { isAdmin, sessionId: bound } = principal;
    const sees = isAdmin ? 'all' : bound === undefined ? 'principal' : 'session';
    return { sessionId: session.sessionId, principal: session.owner, sees };
  };
  return [
    {
      method: 'POST',
      path: '/api/agent/runs',
      summary: 'Ask the agent; answers at once, the run goes on',
      body: chatSchema,
      forSessions: true,
      async run(input) {
        const { limits, allowed_prefixes: prefixes, ...body } = read(input.body);
        const request = {
          ...readChat(body),
          ...(isObject(limits) ? { limits: readLimits(limits) } : {}),
          ...(Array.isArray(prefixes) ? { allowedPrefixes: prefixes.map(String) } : {}),
        };
        return { status: 201, body: shownRun(await assistant.chat(await asker(input), request)) };
      },
    },
    {
      method: 'GET',
      path: '/api/agent/runs',
      summary: 'Runs of all conversations, the latest first',
      query: {
        state: `${RUN_STATES.join(', ')}, several with commas; absent: all`,
        limit: '1 to 200, default 50',
      },
      forSessions: true,
      async run(input) {
        const { state, limit } = input.query;
        const states =
          state === undefined ? RUN_STATES : RUN_STATES.filter((one) => state.split(',').includes(one));
        const found = await assistant.runsIn(await asker(input), states, bounded(limit));
        return { body: { runs: found.map(shownRun) } };
      },
    },
    {
      method: 'GET',
      path: '/api/agent/runs/{id}',
      summary: 'One run: its state, its answer, what it waits for, what it used',
      forSessions: true,
      run: async (input) => ({
        body: shownRun(await assistant.run(await asker(input), input.params.id ?? '')),
      }),
    },
    {
      method: 'GET',
      path: '/api/agent/runs/{id}/events',
      summary: 'A run step by step as server-sent events; Last-Event-ID goes on after that one',
      forSessions: true,
      async run(input) {
        const { id = '' } = input.params;
        const who = await asker(input);
        // Before the head is sent, so that a stranger gets a status.
        await assistant.run(who, id);
        const since = Number(input.headers['last-event-id']) || 0;
        return { write: (response) => void writeRun(response, assistant, who, id, since) };
      },
    },
    {
      method: 'POST',
      path: '/api/agent/runs/{id}/cancel',
      summary: 'Stop a run; what it did stays done',
      forSessions: true,
      run: async (input) => ({
        body: shownRun(await assistant.cancel(await asker(input), input.params.id ?? '')),
      }),
    },
    {
      method: 'GET',
      path: '/api/agent/conversations',
      summary: 'Conversations with the agent, the latest first',
      query: { limit: '1 to 200, default 50' },
      forSessions: true,
      async run(input) {
        const found = await assistant.conversations(await asker(input), bounded(input.query.limit));
        return { body: { conversations: found.map(shownConversation) } };
      },
    },
    {
      method: 'GET',
      path: '/api/agent/conversations/{id}',
      summary: 'A conversation with its runs and every entry, oldest first',
      forSessions: true,
      async run(input) {
        const { id = '' } = input.params;
        const who = await asker(input);
        const conversation = shownConversation(await assistant.conversation(who, id));
        const runs = (await assistant.runsOf(who, id)).map(shownRun);
        return {
          body: { ...conversation, runs, entries: (await assistant.history(who, id)).map(shownEntry) },
        };
      },
    },
    {
      method: 'GET',
      path: '/api/agent/backends',
      summary: 'The brains that are set up, the default first, and the missions',
      forSessions: true,
      async run() {
        const missions = (await assistant.missions.list()).map((one) =>
          'fault' in one
            ? one
            : { name: one.name, description: one.mission.description, inputs: one.mission.inputs },
        );
        return { body: { backends: assistant.backends(), missions } };
      },
    },
  ];
}

const bounded = (limit: string | undefined) => Math.min(200, Math.max(1, Number(limit) || 50));

function read(body: unknown): JsonObject {
  const faults = isObject(body) ? checkChat(body) : ['the body must be a JSON object'];
  if (faults.length === 0 && isObject(body)) return body;
  throw new AppError('INVALID_REQUEST', `Send {"message": "…"}: ${faults.join('; ')}.`, {
    details: { faults },
  });
}
