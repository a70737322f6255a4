import { messageOf } from '@mcpbridge/shared/errors.js';
import type { Guard } from '@mcpbridge/shared/folder-guard.js';
import type { Approvals } from './calls/approvals.js';
import type { CallPipeline } from './calls/pipeline.js';
import type { Catalog } from './catalog/catalog.js';
import { secretsAmong } from './config/secret-values.js';
import type { Log } from './log.js';
import type { CustomTools } from './providers/custom/custom-tools.js';
import type { Recordings } from './recordings/recordings.js';
import type { Secrets } from './secrets.js';
import type { CommandTokens } from './sessions/command-tokens.js';
import type { SessionTokens } from './sessions/session-tokens.js';
import type { Sessions } from './sessions/sessions.js';
import type { Store } from './store/store.js';

interface Parts {
  sessions: Sessions;
  pipeline: CallPipeline;
  approvals: Approvals;
  recordings: Recordings;
  catalog: Catalog;
  commandTokens: CommandTokens;
  tokens: SessionTokens;
  customTools: CustomTools;
  store: Store;
  secrets: Secrets;
  log: Log;
  endCommands(guard: Guard): Promise<void>;
  endBrowser(sessionId: string): Promise<void>;
}

/**
 * What a session has begins, changes and ends with it. At its end: what runs, where it is open; what is stored, wherever it
 * was last open.
 */
export function followSessions(parts: Parts): void {
  const { sessions, pipeline, approvals, recordings, catalog, commandTokens, tokens, customTools, store } =
    parts;
  sessions.on('open', ({ sessionId }) => customTools.load(sessionId));
  sessions.on('policy', ({ sessionId, effective, policy }) => {
    parts.secrets.ofSession(sessionId, secretsAmong(policy.env ?? {}));
    catalog.restrict(sessionId, effective.rules);
  });
  const letGo = (sessionId: string, ends: Promise<unknown>[]) => {
    Promise.all(ends).catch((error) =>
      parts.log.warn(`Of session "${sessionId}" something stays: ${messageOf(error)}`),
    );
  };
  sessions.on('end', (session) => {
    const { sessionId } = session;
    parts.secrets.ofSession(sessionId, []);
    pipeline.running.cancelSession(session);
    void recordings.stop(session);
    for (const provider of catalog.allProviders()) void provider.endSession(sessionId);
    catalog.forgetSession(sessionId);
    commandTokens.forget(sessionId);
    letGo(sessionId, [parts.endCommands(session.effective.guard), parts.endBrowser(sessionId)]);
  });
  sessions.on('gone', (sessionId) => {
    letGo(sessionId, [
      tokens.revoke(sessionId),
      customTools.forget(sessionId),
      store.outputs.forget(sessionId),
      store.kept.forget(sessionId),
      store.proposals.forget(sessionId),
      approvals.forgetSession(sessionId),
    ]);
  });
}
