import { parseDuration } from '@mcpbridge/shared/duration.js';
import { AppError } from '@mcpbridge/shared/errors.js';
import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';
import { policyProperties } from '@mcpbridge/shared/policy.js';
import { compileSchema } from '@mcpbridge/shared/validate.js';
import type { Keys } from '../../auth/keys.js';
import type { KeyRights, KeyRow } from '../../store/key-store.js';
import type { PlainRoute } from '../routes.js';

const { tools = {}, folders = {}, network = {} } = policyProperties as Record<string, JsonObject>;
const schema: JsonObject = {
  type: 'object',
  properties: {
    name: { type: 'string', minLength: 1, maxLength: 100 },
    admin: { type: 'boolean', description: 'May do all that the owner may.' },
    tools,
    folders,
    network,
    ttl: { description: 'Milliseconds, or "30d", "8h"; none: it does not end', type: ['integer', 'string'] },
  },
  required: ['name'],
  additionalProperties: false,
};

/** `onRevoked` hears of the principal that a key was. */
export function keyRoutes(keys: Keys, onRevoked: (principal: string) => Promise<void>): PlainRoute[] {
  return [
    {
      method: 'GET',
      path: '/api/keys',
      summary: 'Keys that let others in, without the keys themselves',
      run: () => ({ body: { keys: keys.list().map(shown) } }),
    },
    {
      method: 'POST',
      path: '/api/keys',
      summary: 'A new key, shown in this answer and never again; its sessions have at most what it may',
      body: schema,
      async run({ body }) {
        const faults = compileSchema(schema)(body);
        if (faults.length > 0 || !isObject(body))
          throw new AppError('INVALID_REQUEST', `The key cannot be so: ${faults.join('; ')}.`, {
            details: { faults },
          });
        const { name, admin = false, ttl, ...rights } = body;
        const expiresAt = endOf(ttl);
        const { key, row } = await keys.create({
          name: String(name),
          isAdmin: admin === true,
          rights: rights as KeyRights,
          ...(expiresAt === undefined ? {} : { expiresAt }),
        });
        return { status: 201, body: { ...shown(row), key } };
      },
    },
    {
      method: 'DELETE',
      path: '/api/keys/{id}',
      summary: 'Revoke a key: its sessions end with it',
      async run({ params: { id = '' } }) {
        await onRevoked(await keys.revoke(id));
        return { body: { id, status: 'revoked' } };
      },
    },
  ];
}

function endOf(ttl: unknown): number | undefined {
  if (ttl === undefined) return undefined;
  const ms = parseDuration(String(ttl));
  if (ms !== undefined && ms > 0) return Date.now() + ms;
  throw new AppError('INVALID_REQUEST', '"ttl" must be milliseconds, or a text like "30d" or "8h".');
}

const time = (at: number) => new Date(at).toISOString();

function shown({ id, name, isAdmin, rights, createdAt, expiresAt, lastUsedAt }: KeyRow): JsonObject {
  return {
    id,
    name,
    admin: isAdmin,
    ...rights,
    createdAt: time(createdAt),
    ...(expiresAt === undefined ? {} : { expiresAt: time(expiresAt) }),
    ...(lastUsedAt === undefined ? {} : { lastUsedAt: time(lastUsedAt) }),
  };
}
