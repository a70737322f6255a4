import type { JsonObject } from '@mcpbridge/shared/json-rpc.js';
import type { Sessions } from '../../sessions/sessions.js';
import type { SessionRow } from '../../store/session-store.js';
import type { PlainRoute } from '../routes.js';

export function sessionRoutes(sessions: Sessions): PlainRoute[] {
  return [
    {
      method: 'GET',
      path: '/api/sessions',
      summary: 'Sessions, used last first',
      query: { ended: 'true: the ended ones' },
      run: async ({ query }) => ({
        body: { sessions: (await sessions.list(query.ended === 'true')).map(shown) },
      }),
    },
    {
      method: 'GET',
      path: '/api/sessions/{id}',
      summary: 'One session',
      run: async ({ params: { id = '' }, principal }) => ({
        body: shown(await sessions.row(principal.id, id)),
      }),
    },
    {
      method: 'DELETE',
      path: '/api/sessions/{id}',
      summary: 'End a session: its calls are cancelled, its upstream connections closed',
      run: async ({ params: { id = '' }, principal }) => {
        await sessions.row(principal.id, id);
        await sessions.end(await sessions.enter(principal.id, id));
        return { body: { id, status: 'ended' } };
      },
    },
  ];
}

function shown({ id, owner, lifetime, createdAt, lastUsedAt, endedAt }: SessionRow): JsonObject {
  const time = (at: number) => new Date(at).toISOString();
  return {
    id,
    owner,
    lifetime,
    createdAt: time(createdAt),
    lastUsedAt: time(lastUsedAt),
    ...(endedAt === undefined ? {} : { endedAt: time(endedAt) }),
  };
}
