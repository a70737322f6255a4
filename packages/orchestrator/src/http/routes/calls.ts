import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { matchesCall } from '@mcpbridge/shared/call-filter-match.js';
import type { CallRow } from '@mcpbridge/shared/call-row.js';
import { AppError } from '@mcpbridge/shared/errors.js';
import type { Principal } from '../../auth/principal.js';
import type { EventBus } from '../../events/event-bus.js';
import { type CallQueries, type CallSelection, COUNTED, type Counted } from '../../store/call-queries.js';
import type { Retention } from '../../store/retention.js';
import type { Spilled } from '../../store/spilled.js';
import { callSelection, countOf, SELECTION_QUERY } from '../call-selection.js';
import type { PlainRoute, RouteInput, RouteReply } from '../routes.js';

const PAGE = { least: 1, most: 1000, usual: 100 };
const EXPORT_PAGE = 500;

export interface CallRouteDeps {
  queries: CallQueries;
  results: Spilled;
  retention: Retention;
  bus: EventBus;
  /** Cancels a running call; false when it does not run. */
  cancel(id: string, by: string): boolean;
}

export function callRoutes(deps: CallRouteDeps): PlainRoute[] {
  return [
    {
      method: 'GET',
      path: '/api/calls',
      summary:
        'Recorded calls, newest first, with those that run; `next` goes into `before` for the page after',
      query: {
        ...SELECTION_QUERY,
        before: 'the cursor of the page before',
        limit: `1 to ${PAGE.most}, default ${PAGE.usual}`,
        counts: `values to count, with commas: ${COUNTED.join(', ')}; with them comes the total`,
      },
      forKeys: true,
      run: (input) => list(deps, input),
    },
    {
      method: 'GET',
      path: '/api/calls/export',
      summary:
        'All calls that fit, newest first, with arguments and results as they are kept, one JSON object a line',
      query: SELECTION_QUERY,
      forKeys: true,
      run: ({ query, principal }) => {
        const selection = callSelection(query, principal);
        return { write: (response) => void exportAll(deps, selection, response) };
      },
    },
    {
      method: 'GET',
      path: '/api/calls/kept',
      summary:
        'How long and in how many bytes calls are kept, 0 for no limit, and how many bytes they take now',
      run: async () => {
        const { ageMs, bytes } = deps.retention.limits;
        return { body: { ageMs, bytes, used: await deps.retention.used() } };
      },
    },
    {
      method: 'GET',
      path: '/api/calls/{id}',
      summary: 'One call with its arguments, its result, and where its time went',
      forKeys: true,
      run: async ({ params: { id = '' }, principal }) => {
        const call = deps.bus.runningCall(id) ?? (await deps.queries.get(id));
        if (!call || !isFor(principal, call)) throw missing(id);
        return { body: call };
      },
    },
    {
      method: 'GET',
      path: '/api/calls/{id}/result',
      summary: 'The result of a call alone, whole where it was kept so',
      forKeys: true,
      run: async ({ params: { id = '' }, principal }) => result(deps, id, principal),
    },
    {
      method: 'POST',
      path: '/api/calls/{id}/cancel',
      summary: 'Cancel a running call, at its upstream too',
      run: ({ params: { id = '' }, principal }) => {
        if (!deps.cancel(id, principal.id)) throw new AppError('NOT_FOUND', `No call "${id}" is running.`);
        return { body: { id, status: 'cancelling' } };
      },
    },
  ];
}

async function list({ queries, bus }: CallRouteDeps, { query, principal }: RouteInput): Promise<RouteReply> {
  const selection = callSelection(query, principal);
  const limit = countOf('limit', query.limit, PAGE);
  // Before the list: what ends meanwhile is in both, and nothing in neither.
  const [seq, running] = [bus.head, query.before ? [] : runningOnes(bus, selection)];
  const page = await queries.list({ ...selection, limit, before: query.before });
  const counts = query.counts ? await countsOf(queries, selection, query.counts) : {};
  return { body: { ...page, ...(query.before ? {} : { running }), seq, ...counts } };
}

function runningOnes(
  bus: EventBus,
  { filter, since = 0, until = Number.POSITIVE_INFINITY }: CallSelection,
): CallRow[] {
  return bus
    .running()
    .filter(({ row, kept }) => row.at >= since && row.at < until && matchesCall(filter, row, kept))
    .map(({ row }) => row)
    .reverse();
}

async function countsOf(queries: CallQueries, selection: CallSelection, text: string) {
  const wanted = text.split(',');
  const unknown = wanted.find((key) => !COUNTED.some((known) => known === key));
  if (unknown !== undefined)
    throw new AppError(
      'INVALID_REQUEST',
      `Values of "${unknown}" are not counted; they are of ${COUNTED.join(', ')}.`,
    );
  const counted = await Promise.all(
    wanted.map(async (key) => [key, await queries.countBy(key as Counted, selection)] as const),
  );
  return { total: await queries.count(selection), counts: Object.fromEntries(counted) };
}

async function result(
  { queries, results }: CallRouteDeps,
  id: string,
  principal: Principal,
): Promise<RouteReply> {
  const call = await queries.get(id);
  if (!call || !isFor(principal, call) || call.resultBytes === undefined) throw missing(id);
  if ('result' in call) return { body: call.result };
  const file = await results.open(id);
  if (!file) throw new AppError('NOT_FOUND', `Of the result of call "${id}" only the beginning was kept.`);
  return {
    write(response) {
      response.writeHead(200, { 'content-type': 'application/json' });
      file.on('error', () => response.destroy()).pipe(response);
    },
  };
}

/** Page after page, as fast as the other end takes them. */
async function exportAll(
  { queries }: CallRouteDeps,
  selection: CallSelection,
  response: ServerResponse,
): Promise<void> {
  response.writeHead(200, {
    'content-type': 'application/jsonl',
    'content-disposition': 'attachment; filename="calls.jsonl"',
  });
  try {
    let before: string | undefined;
    do {
      const page = await queries.whole({ ...selection, before, limit: EXPORT_PAGE });
      before = page.next;
      const text = page.calls.map((call) => `${JSON.stringify(call)}\n`).join('');
      if (!response.write(text) && !response.destroyed)
        await Promise.race([once(response, 'drain'), once(response, 'close')]);
    } while (before !== undefined && !response.destroyed);
    response.end();
  } catch {
    // Cut off: a file that merely ended would look complete.
    response.destroy();
  }
}

/** What others did looks as if it were not there. */
function isFor({ id, isAdmin }: Principal, call: { principal: string }): boolean {
  return isAdmin || call.principal === id;
}

function missing(id: string): AppError {
  return new AppError('NOT_FOUND', `There is no call "${id}".`);
}
