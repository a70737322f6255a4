import { isDeepStrictEqual } from 'node:util';
import type { ServerEvent } from '@mcpbridge/shared/events.js';
import type { Hide } from '@mcpbridge/shared/secrets.js';
import type { Approvals } from './calls/approvals.js';
import type { Catalog } from './catalog/catalog.js';
import type { EventBus } from './events/event-bus.js';
import type { Sessions } from './sessions/sessions.js';

const LOOK_EVERY_MS = 500;

interface Parts {
  bus: EventBus;
  catalog: Catalog;
  sessions: Sessions;
  approvals: Approvals;
  hide: Hide;
}

/** Tells the bus what happens beside calls. Answers what starts and ends the watch. */
export function houseNews({ bus, catalog, sessions, approvals, hide }: Parts): (watched: boolean) => void {
  let looking: NodeJS.Timeout | undefined;
  let states = new Map<string, ServerEvent['server']>();
  const statesNow = () =>
    new Map(catalog.allProviders().map((provider) => [provider.id, stateOf(provider, catalog, hide)]));
  // A state comes from what happens to connections in many places; to look is simpler than to be told, and costs little.
  const look = () => {
    const now = statesNow();
    for (const [id, server] of now)
      if (!isDeepStrictEqual(server, states.get(id))) bus.tell({ type: 'server', server });
    for (const id of states.keys())
      if (!now.has(id)) bus.tell({ type: 'server', server: { id, state: 'removed' } });
    states = now;
  };
  catalog.onChange(() => bus.tell({ type: 'catalog', tools: catalog.view().tools.length }));
  sessions.on('open', ({ sessionId: id }) => bus.tell({ type: 'session', session: { id, state: 'opened' } }));
  sessions.on('policy', ({ sessionId: id }) =>
    bus.tell({ type: 'session', session: { id, state: 'changed' } }),
  );
  sessions.on('end', ({ sessionId: id }) => bus.tell({ type: 'session', session: { id, state: 'ended' } }));
  approvals.onChange(({ id, kind, callId, sessionId, server, tool, expiresAt }, state, by) => {
    const proposal = { id, kind, state, session: sessionId, server, tool, expiresAt };
    bus.tell({
      type: 'proposal',
      proposal: {
        ...proposal,
        ...(callId === undefined ? {} : { call: callId }),
        ...(by === undefined ? {} : { by }),
      },
    });
  });
  return (watched) => {
    clearInterval(looking);
    looking = undefined;
    if (!watched) return;
    states = statesNow();
    looking = setInterval(look, LOOK_EVERY_MS).unref();
  };
}

function stateOf(
  { id, health }: ReturnType<Catalog['allProviders']>[number],
  catalog: Catalog,
  hide: Hide,
): ServerEvent['server'] {
  const { reason, retryAt } = { reason: undefined, retryAt: undefined, ...health };
  return {
    id,
    state: health.state,
    ...(reason === undefined ? {} : { reason: hide(reason) }),
    ...(retryAt === undefined ? {} : { retryAt }),
    tools: catalog.view().toolsOf(id).length,
  };
}
