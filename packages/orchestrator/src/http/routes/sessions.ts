import { parseDuration } from '@mcpbridge/shared/duration.js';
import { AppError } from '@mcpbridge/shared/errors.js';
import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';
import { policyProperties, type SessionPolicy } from '@mcpbridge/shared/policy.js';
import { compileSchema } from '@mcpbridge/shared/validate.js';
import type { Principal } from '../../auth/principal.js';
import type { Session } from '../../sessions/session.js';
import type { SessionTokens } from '../../sessions/session-tokens.js';
import type { Sessions } from '../../sessions/sessions.js';
import type { SessionRow } from '../../store/session-store.js';
import type { PlainRoute, RouteInput } from '../routes.js';

/** How long a token is good for when the session has no end. */
const TOKEN_MS = 30 * 24 * 60 * 60_000;

const ttl: JsonObject = { description: 'Milliseconds, or "30m", "8h"', type: ['integer', 'string'] };
const patchSchema: JsonObject = {
  type: 'object',
  properties: { ...policyProperties, ttl },
  additionalProperties: false,
};
const createSchema: JsonObject = {
  type: ['object', 'null'],
  properties: { ...policyProperties, ttl, id: { type: 'string' }, parent: { type: 'string' } },
  additionalProperties: false,
};
const tokenSchema: JsonObject = {
  type: ['object', 'null'],
  properties: { ttl },
  additionalProperties: false,
};

export function sessionRoutes(sessions: Sessions, tokens: SessionTokens): PlainRoute[] {
  const find = (principal: Principal, id = '') => sessions.manage(principal, id);
  const issue = async ({ sessionId, owner, expiresAt: end }: Session, until?: number) => {
    const expiresAt = Math.min(until ?? Date.now() + TOKEN_MS, end ?? Number.POSITIVE_INFINITY);
    return { token: await tokens.issue(sessionId, owner, expiresAt), expiresAt: time(expiresAt) };
  };
  return [
    {
      method: 'GET',
      path: '/api/sessions',
      summary: 'Sessions, used last first',
      query: { ended: 'true: the ended ones' },
      forKeys: true,
      run: async ({ query, principal }) => ({
        body: {
          sessions: (await sessions.list(principal, query.ended === 'true')).map((row) => ({
            ...shown(row),
            ...whoIsIn(sessions.get(row.id)),
          })),
        },
      }),
    },
    {
      method: 'POST',
      path: '/api/sessions',
      summary: 'Open a session with a policy; answers a token that is good for it alone',
      body: createSchema,
      forSessions: true,
      async run({ principal, body }) {
        const { id, parent, ttl: lasts, ...policy } = checked(createSchema, body ?? {});
        const session = await sessions.create(parentOnly(principal, parent), {
          id: text(id),
          parent: text(parent) ?? principal.sessionId,
          policy,
          expiresAt: endOf(lasts),
        });
        return {
          status: 201,
          body: { id: session.sessionId, ...(await issue(session)), policy: withoutValues(policy) },
        };
      },
    },
    {
      method: 'GET',
      path: '/api/sessions/{id}',
      summary: 'One session',
      forSessions: true,
      run: async ({ params: { id = '' }, principal }) => ({
        body: { ...shown(await sessions.row(principal, id)), ...whoIsIn(sessions.get(id)) },
      }),
    },
    {
      method: 'PATCH',
      path: '/api/sessions/{id}',
      summary: 'Change what a session may do; members that are given replace its own',
      body: patchSchema,
      forKeys: true,
      async run({ params, principal, body }) {
        const { ttl: lasts, ...policy } = checked(patchSchema, body);
        await sessions.change(await find(principal, params.id), policy, endOf(lasts));
        return { body: shown(await sessions.row(principal, params.id ?? '')) };
      },
    },
    {
      method: 'DELETE',
      path: '/api/sessions/{id}',
      summary: 'End a session: its calls are cancelled, its connections closed, its tools and tokens gone',
      forSessions: true,
      async run({ params: { id = '' }, principal }) {
        await sessions.end(await find(principal, id));
        return { body: { id, status: 'ended' } };
      },
    },
    {
      method: 'POST',
      path: '/api/sessions/{id}/tokens',
      summary: 'One more token of a session',
      body: tokenSchema,
      forKeys: true,
      async run({ params, principal, body }) {
        const { ttl: lasts } = checked(tokenSchema, body ?? {});
        return { status: 201, body: await issue(await find(principal, params.id), endOf(lasts)) };
      },
    },
    {
      method: 'DELETE',
      path: '/api/sessions/{id}/tokens',
      summary: 'Revoke all tokens of a session',
      forKeys: true,
      async run({ params: { id = '' }, principal }: RouteInput) {
        await sessions.row(principal, id);
        await tokens.revoke(id);
        return { body: { id, status: 'revoked' } };
      },
    },
  ];
}

/** With the token of a session only sessions under it can be made. */
function parentOnly(principal: Principal, parent: unknown): Principal {
  if (principal.sessionId !== undefined && parent !== undefined && parent !== principal.sessionId) {
    throw new AppError('SESSION_NOT_FOUND', `There is no session "${parent}".`);
  }
  return { id: principal.id, isAdmin: false };
}

type SessionBody = SessionPolicy & { id?: string; parent?: string; ttl?: unknown };

function checked(schema: JsonObject, body: unknown): SessionBody {
  const faults = compileSchema(schema)(body);
  if (faults.length > 0 || !isObject(body)) {
    throw new AppError('INVALID_REQUEST', `The session cannot be so: ${faults.join('; ')}.`, {
      details: { faults },
    });
  }
  return body;
}

function endOf(lasts: unknown): number | undefined {
  if (lasts === undefined) return undefined;
  const ms = parseDuration(String(lasts));
  if (ms === undefined || ms <= 0) {
    throw new AppError('INVALID_REQUEST', '"ttl" must be milliseconds, or a text like "30m" or "8h".');
  }
  return Date.now() + ms;
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

const time = (at: number) => new Date(at).toISOString();

function shown(row: SessionRow): JsonObject {
  const { id, owner, lifetime, createdAt, lastUsedAt, endedAt, expiresAt, parent, policy } = row;
  return {
    id,
    owner,
    lifetime,
    createdAt: time(createdAt),
    lastUsedAt: time(lastUsedAt),
    ...(parent === undefined ? {} : { parent }),
    ...(expiresAt === undefined ? {} : { expiresAt: time(expiresAt) }),
    ...(endedAt === undefined ? {} : { endedAt: time(endedAt) }),
    ...(policy === undefined ? {} : { policy: withoutValues(policy) }),
  };
}

/** What its client has said of itself, while the session is open here. */
function whoIsIn(session: Session | undefined): JsonObject {
  const info = session?.hello?.clientInfo;
  const client =
    isObject(info) && typeof info.name === 'string'
      ? [info.name, typeof info.version === 'string' ? info.version : ''].join(' ').trim()
      : undefined;
  return {
    ...(client === undefined ? {} : { client }),
    ...(session?.project === undefined ? {} : { project: session.project }),
  };
}

/** The environment of a session may hold secrets: its names are shown alone. */
function withoutValues(policy: SessionPolicy): SessionPolicy {
  if (!policy.env) return policy;
  return { ...policy, env: Object.fromEntries(Object.keys(policy.env).map((name) => [name, '********'])) };
}
