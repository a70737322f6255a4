import { callReply } from '@mcpbridge/shared/call-reply.js';
import { Cancel } from '@mcpbridge/shared/cancel.js';
import { AppError } from '@mcpbridge/shared/errors.js';
import { timeOrderedId } from '@mcpbridge/shared/ids.js';
import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';
import { REDACTED } from '@mcpbridge/shared/redact.js';
import type { Principal } from '../../auth/principal.js';
import type { CallPipeline } from '../../calls/pipeline.js';
import type { Session } from '../../sessions/session.js';
import type { Sessions } from '../../sessions/sessions.js';
import type { CallQueries } from '../../store/call-queries.js';
import { asAppError } from '../reply.js';
import type { PlainRoute, RouteInput, RouteReply } from '../routes.js';

const schema: JsonObject = {
  type: ['object', 'null'],
  properties: {
    arguments: { type: 'object', description: 'Instead of those of the call' },
    session: {
      enum: ['own', 'fresh'],
      description: 'In the session of the call, or in a new one; default own',
    },
  },
  additionalProperties: false,
};

/** A session that was made for a replay ends by itself. */
const FRESH_MS = 60 * 60_000;

interface ReplayDeps {
  queries: CallQueries;
  pipeline: CallPipeline;
  sessions: Sessions;
}

export function replayRoutes(deps: ReplayDeps): PlainRoute[] {
  return [
    {
      method: 'POST',
      path: '/api/calls/{id}/replay',
      summary:
        'Make a call once more, with other arguments if given; the answer is that of a call, with its id',
      body: schema,
      run: (input) => replay(deps, input),
    },
  ];
}

async function replay(deps: ReplayDeps, input: RouteInput): Promise<RouteReply> {
  const {
    params: { id = '' },
    body,
    principal,
  } = input;
  const call = await deps.queries.get(id);
  if (!call) throw new AppError('NOT_FOUND', `There is no call "${id}".`);
  const given = isObject(body) ? body : {};
  const args = given.arguments ?? keptArguments(call);
  const session =
    given.session === 'fresh'
      ? await alike(deps, principal, call.session)
      : await deps.sessions.enter(principal, call.session);
  const again = timeOrderedId();
  const request = {
    id: again,
    session,
    target: { server: call.server, tool: call.tool },
    args,
    abort: new Cancel(),
    client: 'dashboard',
    via: 'replay' as const,
    replayOf: id,
  };
  try {
    return {
      body: { id: again, session: session.sessionId, ...callReply(await deps.pipeline.run(request)) },
    };
  } catch (thrown) {
    const error = asAppError(thrown);
    return {
      status: error.status,
      body: { id: again, session: session.sessionId, success: false, error: error.toBody() },
    };
  }
}

/** A new session that may do what the other may, or might before it was ended. */
async function alike({ sessions }: ReplayDeps, principal: Principal, id: string): Promise<Session> {
  const { policy = {}, parent } = await sessions.row(principal, id);
  return sessions.create(principal, {
    policy,
    ...(parent === undefined ? {} : { parent }),
    expiresAt: Date.now() + FRESH_MS,
  });
}

/** What was blanked or cut cannot be sent again. */
function keptArguments({
  arguments: args,
  argumentsCut,
}: {
  arguments: unknown;
  argumentsCut?: number;
}): unknown {
  if (argumentsCut)
    throw new AppError('INVALID_REQUEST', 'The arguments were not kept whole: send them as "arguments".');
  if (JSON.stringify(args).includes(REDACTED))
    throw new AppError(
      'INVALID_REQUEST',
      'Secrets in the arguments were not kept: send them whole as "arguments".',
    );
  return args;
}
