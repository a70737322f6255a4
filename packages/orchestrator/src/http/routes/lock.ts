import { AppError } from '@mcpbridge/shared/errors.js';
import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';
import type { ToolLock } from '../../catalog/tool-lock.js';
import type { PlainRoute } from '../routes.js';

const schema: JsonObject = {
  type: 'object',
  properties: { server: { type: 'string' }, tool: { type: 'string' }, block: { type: 'boolean' } },
  required: ['server'],
};

/** Tools that are not any more what they were when they were accepted. */
export function lockRoutes(lock: ToolLock): PlainRoute[] {
  return [
    {
      method: 'GET',
      path: '/api/lock',
      summary: 'Tools that changed and are held back, with what is different',
      run: () => ({ body: { changed: lock.changed() } }),
    },
    {
      method: 'POST',
      path: '/api/lock',
      summary: 'Accept a changed tool as it is now, or all of a server; or block it',
      body: schema,
      async run({ body }) {
        if (!isObject(body) || typeof body.server !== 'string')
          throw new AppError(
            'INVALID_REQUEST',
            'Send {"server": "…", "tool": "…"}, or the server alone for all of it.',
          );
        const tool = typeof body.tool === 'string' ? body.tool : undefined;
        if (body.block === true) return { body: { blocked: await lock.block(body.server, tool) } };
        return { body: { accepted: await lock.accept(body.server, tool) } };
      },
    },
  ];
}
