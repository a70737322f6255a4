import { AppError } from '@mcpbridge/shared/errors.js';
import { agentBrowser } from './providers/browser/agent-browser.js';
import type { Browsers } from './providers/browser/browsers.js';
import type { SessionFiles } from './providers/browser/command.js';
import type { FunctionTool } from './providers/function-provider.js';
import { readImage } from './providers/vision/read-image.js';
import type { VisionSettings } from './providers/vision/vision-model.js';
import type { WorkspaceClient } from './providers/workspace/workspace-client.js';
import type { Sessions } from './sessions/sessions.js';

interface Parts {
  sessions: Sessions;
  client: WorkspaceClient;
  browsers: Browsers;
  vision: VisionSettings | undefined;
}

/** The platform's tools that see pages and pictures; files are those of the session that calls them, under its guard. */
export function seeingTools({ sessions, client, browsers, vision }: Parts): FunctionTool[] {
  const files = (sessionId: string) => filesOf(sessions, client, sessionId);
  return [
    agentBrowser(browsers, ({ caller }) => files(caller.sessionId)),
    readImage(vision, ({ caller }, path) => files(caller.sessionId).read(path)),
  ];
}

function filesOf(sessions: Sessions, client: WorkspaceClient, sessionId: string): SessionFiles {
  const guard = () => {
    const session = sessions.get(sessionId);
    if (!session) throw new AppError('CALL_CANCELLED', 'The session was ended.');
    return { ...session.effective.guard, env: {} };
  };
  const at = (path: string) => `/api/documents/${encodeURIComponent(path)}`;
  return {
    read: (path) => client.bytes(guard(), { method: 'GET', path: `${at(path)}/raw` }),
    async write(path, bytes) {
      const headers = { 'content-type': 'application/octet-stream' };
      await client.json(guard(), { method: 'PUT', path: at(path), body: bytes, headers });
    },
  };
}
