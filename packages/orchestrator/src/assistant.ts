import { Assistant, type AssistantOptions } from '@mcpbridge/agent/assistant.js';
import { assistantTools } from '@mcpbridge/agent/assistant-tools.js';
import { readAgentSettings } from '@mcpbridge/agent/settings.js';
import { AppError, messageOf } from '@mcpbridge/shared/errors.js';
import { timeOrderedId } from '@mcpbridge/shared/ids.js';
import type { Approvals } from './calls/approvals.js';
import type { Log } from './log.js';
import type { FunctionTool } from './providers/function-provider.js';
import type { SessionTokens } from './sessions/session-tokens.js';
import type { Sessions } from './sessions/sessions.js';
import type { Settings } from './settings.js';
import type { Store } from './store/store.js';

interface Parts {
  settings: Settings;
  store: Store;
  sessions: Sessions;
  tokens: SessionTokens;
  log: Log;
  approvals: Approvals;
  /** Where this very orchestrator is, once its doors are open. */
  address(): { url: string; socket?: string };
}

const TOKEN_MS = 24 * 60 * 60_000;

/** The bundled agent, which comes to the orchestrator as any client does: over HTTP, with the token of one session. */
export function mountAssistant(parts: Parts): Assistant {
  const { settings, store, sessions, tokens, log, approvals, address } = parts;
  const options: AssistantOptions = {
    address,
    store: store.conversations,
    settings: readAgentSettings(settings.env, settings.configFile),
    async tokenFor(sessionId) {
      const row = await store.sessions.get(sessionId);
      if (!row) throw new AppError('SESSION_NOT_FOUND', `There is no session "${sessionId}".`);
      const { owner } = await sessions.enter({ id: row.owner }, sessionId);
      return tokens.issue(
        sessionId,
        owner,
        Math.min(Date.now() + TOKEN_MS, row.expiresAt ?? Number.POSITIVE_INFINITY),
      );
    },
    onRefused({ sessionId, tool, arguments: args, error }) {
      const owner = sessions.get(sessionId)?.owner ?? '';
      store.calls.add({
        id: timeOrderedId(),
        startedAt: Date.now(),
        principal: owner,
        sessionId,
        client: 'agent',
        kind: 'agent',
        server: '',
        tool,
        arguments: args,
        outcome: 'refused',
        errorCode: error.code,
        errorMessage: error.message,
        durationMs: 0,
        resultBytes: 0,
      });
    },
    withdraw: (id) => approvals.decide(id, { accept: false, note: 'the run was cancelled' }),
    warn: (message) => log.warn(message),
  };
  const assistant = new Assistant(options);
  approvals.whenDecided((sessionId) => {
    assistant
      .wake(sessionId)
      .catch((error) => log.warn(`A decision did not reach its agent: ${messageOf(error)}`));
  });
  return assistant;
}

/** Listed only where the agent has a brain to answer with. */
export function toolsOfAssistant(
  assistant: Assistant,
  approvals: Approvals,
  sessions: Sessions,
): FunctionTool[] {
  if (assistant.backends().length === 0) return [];
  return assistantTools(assistant, approvals).map(({ definition, run }) => ({
    definition,
    run({ args, caller, signal, listener }) {
      let progress = 0;
      const tell = (message: string) => listener?.progress?.({ progress: ++progress, message });
      const { sessionId } = caller;
      const principal = sessions.get(sessionId)?.owner ?? '';
      return run({ asker: { sessionId, principal, sees: 'session' }, args, signal, tell });
    },
  }));
}
