import type { CancelSignal } from '@mcpbridge/shared/cancel.js';
import { AppError } from '@mcpbridge/shared/errors.js';
import type { Guard } from '@mcpbridge/shared/folder-guard.js';
import type { JsonObject } from '@mcpbridge/shared/json-rpc.js';
import type { FunctionTool } from './providers/function-provider.js';
import type { AskWorkspace } from './providers/workspace/ask-workspace.js';
import { executeShellCommand, type RunCommand } from './providers/workspace/execute-shell-command.js';
import { fileTools } from './providers/workspace/file-tools.js';
import type { CodeHost } from './providers/workspace/run-code.js';
import type { WorkspaceClient, WorkspaceRequest } from './providers/workspace/workspace-client.js';
import type { CommandTokens } from './sessions/command-tokens.js';
import type { Session } from './sessions/session.js';
import type { Sessions } from './sessions/sessions.js';

interface Parts {
  sessions: Sessions;
  client: WorkspaceClient;
  commandTokens: CommandTokens;
}

/** The platform's tools that work in the workspace, under the guard of the session that calls them. */
export function workspaceTools(parts: Parts): FunctionTool[] {
  return [executeShellCommand(runCommand(parts)), ...fileTools(askWorkspace(parts))];
}

/** For code that calls tools: a command that is spoken with. */
export function codeHost(parts: Omit<Parts, 'commandTokens'>): Omit<CodeHost, 'call'> {
  const guardOf = (sessionId: string): Guard => ({
    ...sessionOf(parts, sessionId).effective.guard,
    env: {},
    network: 'none',
  });
  return {
    async open(sessionId, body, signal) {
      const gone = new AbortController();
      signal.addEventListener('abort', () => gone.abort());
      return parts.client.stream(guardOf(sessionId), {
        method: 'POST',
        path: '/api/execute',
        headers: { accept: 'text/event-stream' },
        body,
        signal: gone.signal,
      });
    },
    async feed(sessionId, id, text) {
      await parts.client.json(guardOf(sessionId), {
        method: 'POST',
        path: `/api/execute/${id}/stdin`,
        body: { text },
      });
    },
  };
}

function runCommand(parts: Parts): RunCommand {
  return async (sessionId, body, signal) => {
    const guard = await parts.commandTokens.guardOf(sessionOf(parts, sessionId));
    return untilAborted(parts.client, guard, { method: 'POST', path: '/api/execute', body }, signal);
  };
}

function askWorkspace(parts: Parts): AskWorkspace {
  return ({ caller, signal }, request) => {
    // The environment is for commands alone.
    const guard = { ...sessionOf(parts, caller.sessionId).effective.guard, env: {} };
    return untilAborted(parts.client, guard, request, signal);
  };
}

function sessionOf({ sessions }: Pick<Parts, 'sessions'>, sessionId: string): Session {
  const session = sessions.get(sessionId);
  if (session) return session;
  throw new AppError('CALL_CANCELLED', 'The session was ended.');
}

async function untilAborted(
  client: WorkspaceClient,
  guard: Guard,
  request: WorkspaceRequest,
  signal: CancelSignal,
): Promise<JsonObject> {
  const gone = new AbortController();
  const onAbort = () => gone.abort();
  if (signal.aborted) onAbort();
  signal.addEventListener('abort', onAbort);
  try {
    return await client.json(guard, { ...request, signal: gone.signal });
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
