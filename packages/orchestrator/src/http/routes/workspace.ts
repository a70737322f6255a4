import type { IncomingMessage, ServerResponse } from 'node:http';
import { AppError } from '@mcpbridge/shared/errors.js';
import type { Guard } from '@mcpbridge/shared/folder-guard.js';
import type { Catalog } from '../../catalog/catalog.js';
import type { Session } from '../../sessions/session.js';
import type { Sessions } from '../../sessions/sessions.js';
import type { CallRecord } from '../../store/call-record.js';
import { callerSession } from '../caller-session.js';
import type { RouteDescription, StreamRoute } from '../routes.js';
import { WorkspaceRecord } from '../workspace-record.js';

interface Deps {
  sessions: Sessions;
  /** What the workspace says of its routes. */
  described: readonly (Omit<RouteDescription, 'forSessions'> & { withEnv?: true; tool?: string })[];
  catalog: Catalog;
  /** With what its commands get besides. */
  guardOfCommands(session: Session): Promise<Guard>;
  forward(
    guard: Guard,
    request: IncomingMessage,
    response: ServerResponse,
    witness: Pick<WorkspaceRecord, 'sent' | 'answered'>,
  ): Promise<void>;
  /** Takes a request that has ended into the log of calls. */
  record(call: CallRecord): void;
}

/** The routes of the workspace under the guard of the caller's session. */
export function workspaceRoutes(deps: Deps): StreamRoute[] {
  const { sessions, catalog, guardOfCommands, forward, record } = deps;
  return deps.described.map(({ method, path, summary, body, query, withEnv, tool }) => ({
    method,
    path,
    summary,
    ...(body ? { body } : {}),
    ...(query ? { query } : {}),
    forSessions: true,
    async stream(request, response, principal) {
      const session = await callerSession(sessions, { request, params: {}, principal });
      const witness = new WorkspaceRecord(session, tool ?? `${method} ${path}`, request, principal);
      try {
        if (tool !== undefined) checkTool(catalog, session, tool);
        // The environment may hold secrets: it goes where commands run and nowhere else.
        const guard = withEnv ? await guardOfCommands(session) : { ...session.effective.guard, env: {} };
        await forward(guard, request, response, witness);
        record(witness.ended(response));
      } catch (thrown) {
        record(witness.ended(response, thrown));
        throw thrown;
      }
    },
  }));
}

/** What a session may not do by a tool it may not do by an address. @throws TOOL_NOT_ALLOWED, NOT_APPROVED */
function checkTool(catalog: Catalog, { sessionId, effective }: Session, name: string): void {
  const tool = catalog.view(sessionId).tool(name);
  if (!tool)
    throw new AppError('TOOL_NOT_ALLOWED', `This session may not use "${name}", nor what does the same.`);
  if (effective.rules?.needsApproval(tool))
    throw new AppError(
      'NOT_APPROVED',
      `A person must say yes to this: call "${name}", which waits for that.`,
    );
}
