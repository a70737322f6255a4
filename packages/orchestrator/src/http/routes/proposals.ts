import { AppError } from '@mcpbridge/shared/errors.js';
import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';
import { redactByKey } from '@mcpbridge/shared/redact.js';
import type { Approvals, Proposal } from '../../calls/approvals.js';
import type { PlainRoute } from '../routes.js';

const schema: JsonObject = {
  type: 'object',
  properties: { accept: { type: 'boolean' }, note: { type: 'string' } },
  required: ['accept'],
};

/** What waits for a person's yes. */
export function proposalRoutes(approvals: Approvals): PlainRoute[] {
  return [
    {
      method: 'GET',
      path: '/api/proposals',
      summary: 'Calls that wait for a person, oldest first',
      run: () => ({ body: { proposals: approvals.list().map(shown) } }),
    },
    {
      method: 'POST',
      path: '/api/proposals/{id}',
      summary: 'Accept or reject one; the first answer counts',
      body: schema,
      run({ params: { id = '' }, body }) {
        if (!isObject(body) || typeof body.accept !== 'boolean')
          throw new AppError('INVALID_REQUEST', 'Send {"accept": true} or {"accept": false, "note": "…"}.');
        const { accept, note } = body;
        if (!approvals.decide(id, { accept, ...(typeof note === 'string' ? { note } : {}) }))
          throw new AppError('NOT_FOUND', `No proposal "${id}" waits for an answer.`);
        return { body: { id, status: accept ? 'accepted' : 'rejected' } };
      },
    },
  ];
}

function shown(proposal: Proposal): JsonObject {
  const { arguments: args, createdAt, expiresAt, ...rest } = proposal;
  return {
    ...rest,
    arguments: redactByKey(args),
    createdAt: new Date(createdAt).toISOString(),
    expiresAt: new Date(expiresAt).toISOString(),
  };
}
