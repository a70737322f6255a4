import { AppError } from '@mcpbridge/shared/errors.js';
import type { CallFilter, CallLog, CallSummary } from '../../store/call-log.js';
import type { PlainRoute } from '../routes.js';

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1000;

export function callRoutes(log: CallLog): PlainRoute[] {
  return [
    {
      method: 'GET',
      path: '/api/calls',
      summary: 'Recorded calls, newest first; `next` goes into `before` for the page after',
      query: {
        session: 'only of this session',
        server: 'only of this server',
        tool: 'only of this tool',
        outcome: 'ok, tool_error, failed, refused or cancelled',
        since: 'started at this time or later',
        until: 'started before this time',
        before: 'the cursor of the page before',
        limit: `1 to ${MAX_LIMIT}, default ${DEFAULT_LIMIT}`,
      },
      run: async ({ query }) => {
        const { calls, ...rest } = await log.list(filterOf(query));
        return { body: { calls: calls.map(shown), ...rest } };
      },
    },
    {
      method: 'GET',
      path: '/api/calls/{id}',
      summary: 'One call with its arguments',
      run: async ({ params: { id = '' } }) => {
        const call = await log.get(id);
        if (!call) throw new AppError('NOT_FOUND', `There is no call "${id}".`);
        return { body: shown(call) };
      },
    },
  ];
}

function filterOf(query: Record<string, string | undefined>): CallFilter {
  const limit = query.limit === undefined ? DEFAULT_LIMIT : Number(query.limit);
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT) {
    throw new AppError('INVALID_REQUEST', `limit is "${query.limit}"; give a number from 1 to ${MAX_LIMIT}.`);
  }
  const filter: CallFilter = { limit };
  for (const key of ['session', 'server', 'tool', 'outcome', 'before'] as const) {
    const value = query[key];
    if (value) filter[key] = value;
  }
  for (const key of ['since', 'until'] as const) {
    const value = query[key];
    if (value) filter[key] = timeOf(key, value);
  }
  return filter;
}

function timeOf(key: string, text: string): number {
  const time = Date.parse(text);
  if (!Number.isNaN(time)) return time;
  throw new AppError('INVALID_REQUEST', `${key} is "${text}"; give a time such as 2026-11-30T12:00:00Z.`);
}

function shown(call: CallSummary): object {
  return { ...call, startedAt: new Date(call.startedAt).toISOString() };
}
