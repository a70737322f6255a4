import { AppError } from '@mcpbridge/shared/errors.js';
import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';
import { redactByKey } from '@mcpbridge/shared/redact.js';
import type { Hide } from '@mcpbridge/shared/secrets.js';
import type { Approvals, Decision, Proposal } from '../../calls/approvals.js';
import type { Remember } from '../../calls/remembered.js';
import type { PlainRoute } from '../routes.js';

const schema: JsonObject = {
  type: 'object',
  properties: {
    accept: { type: 'boolean' },
    note: { type: 'string', description: 'Told to whoever called, with a yes too; of a question the answer' },
    arguments: {
      type: 'object',
      description: 'Of a call: in the place of those that were proposed; secrets may stay `[redacted]`',
    },
    remember: {
      enum: ['arguments', 'tool'],
      description: 'With a yes: it holds for the same arguments, or for the tool, in this session',
    },
  },
  required: ['accept'],
};

const ENDS = ['decided', 'accepted', 'rejected', 'expired', 'withdrawn'];
const USUAL_PAGE = 200;
const LARGEST_PAGE = 1000;

/** What waits for a person's yes. */
export function proposalRoutes(approvals: Approvals, hide: Hide): PlainRoute[] {
  const shown = (proposal: Proposal) => withoutSecrets(proposal, hide);
  return [
    {
      method: 'GET',
      path: '/api/proposals',
      summary: 'Calls that wait for a person, oldest first; or the latest decisions',
      query: {
        state:
          'decided: those that do not wait any more, latest first; or those alone that were accepted, rejected, expired, withdrawn',
        limit: 'Of decisions, at most 1000; default 200',
        before: 'Of decisions: `next` of the page before',
      },
      run: async ({ query }) => {
        const { state = 'waiting' } = query;
        if (state === 'waiting') return { body: { proposals: (await approvals.list()).map(shown) } };
        if (!ENDS.includes(state))
          throw new AppError('INVALID_REQUEST', `"state" is waiting or one of ${ENDS.join(', ')}.`);
        const { decisions, next } = await approvals.decisions({
          limit: Math.min(wholeNumber('limit', query.limit) ?? USUAL_PAGE, LARGEST_PAGE),
          before: wholeNumber('before', query.before),
          state: state === 'decided' ? undefined : state,
        });
        return { body: { proposals: decisions, ...(next === undefined ? {} : { next }) } };
      },
    },
    {
      method: 'POST',
      path: '/api/proposals/{id}',
      summary: 'Accept or reject one; the first answer counts',
      body: schema,
      async run({ params: { id = '' }, body, principal }) {
        if (!isObject(body) || typeof body.accept !== 'boolean')
          throw new AppError('INVALID_REQUEST', 'Send {"accept": true} or {"accept": false, "note": "…"}.');
        const { accept, note, arguments: edited, remember } = body;
        const decision: Decision = {
          accept,
          by: principal.id,
          ...(typeof note === 'string' ? { note } : {}),
          ...(isObject(edited) ? { arguments: edited } : {}),
          ...(remember === 'arguments' || remember === 'tool' ? { remember: remember as Remember } : {}),
        };
        if (!(await approvals.decide(id, decision)))
          throw new AppError('NOT_FOUND', `No proposal "${id}" waits for an answer.`);
        return { body: { id, status: accept ? 'accepted' : 'rejected' } };
      },
    },
  ];
}

function wholeNumber(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw new AppError('INVALID_REQUEST', `"${name}" is a number of 1 or more, not "${text}".`);
}

function withoutSecrets(proposal: Proposal, hide: Hide): JsonObject {
  const { arguments: args, createdAt, expiresAt, ...rest } = proposal;
  return {
    ...rest,
    arguments: redactByKey(args, { hide }),
    createdAt: new Date(createdAt).toISOString(),
    expiresAt: new Date(expiresAt).toISOString(),
  };
}
