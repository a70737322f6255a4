import { homedir } from 'node:os';
import type { Assistant } from '@mcpbridge/agent/assistant.js';
import type { JsonObject } from '@mcpbridge/shared/json-rpc.js';
import type { Hide } from '@mcpbridge/shared/secrets.js';
import { workspaceRoutes as workspaceDescriptions } from '@mcpbridge/workspace-api/routes/routes.js';
import type { Keys } from './auth/keys.js';
import type { Logins } from './auth/login.js';
import type { Approvals } from './calls/approvals.js';
import type { CallPipeline } from './calls/pipeline.js';
import type { Catalog } from './catalog/catalog.js';
import type { Discovery } from './catalog/discovery.js';
import type { Fleet } from './catalog/fleet.js';
import type { ToolSearch } from './catalog/search.js';
import type { ToolLock } from './catalog/tool-lock.js';
import type { ServersConfig } from './config/servers-config.js';
import type { OpenedWorkspace } from './embedded-workspace.js';
import type { EventBus } from './events/event-bus.js';
import { houseMetrics } from './house-metrics.js';
import { agentRoutes } from './http/routes/agent.js';
import { callRoutes } from './http/routes/calls.js';
import { clientFileRoutes } from './http/routes/client-files.js';
import { eventRoutes } from './http/routes/events.js';
import { healthRoutes } from './http/routes/health.js';
import { keyRoutes } from './http/routes/keys.js';
import { lockRoutes } from './http/routes/lock.js';
import { loginRoutes } from './http/routes/login.js';
import { metricsRoutes } from './http/routes/metrics.js';
import { oauthRoutes } from './http/routes/oauth.js';
import { proposalRoutes } from './http/routes/proposals.js';
import { recordingRoutes } from './http/routes/recordings.js';
import { replayRoutes } from './http/routes/replay.js';
import { resourceMetadataRoutes } from './http/routes/resource-metadata.js';
import { secretRoutes } from './http/routes/secrets.js';
import { serverRoutes } from './http/routes/servers.js';
import { sessionToolRoutes } from './http/routes/session-tools.js';
import { sessionRoutes } from './http/routes/sessions.js';
import { statisticsRoutes } from './http/routes/statistics.js';
import { toolRoutes } from './http/routes/tools.js';
import { workspaceRoutes } from './http/routes/workspace.js';
import type { PlainRoute, StreamRoute } from './http/routes.js';
import type { AccountStatus, Accounts } from './oauth/accounts.js';
import type { People } from './people.js';
import type { CustomTools } from './providers/custom/custom-tools.js';
import type { ProcessPlaces } from './providers/mcp/pool/process-places.js';
import type { Recordings } from './recordings/recordings.js';
import type { CommandTokens } from './sessions/command-tokens.js';
import type { SessionTokens } from './sessions/session-tokens.js';
import type { Sessions } from './sessions/sessions.js';
import type { Settings } from './settings.js';
import type { Store } from './store/store.js';
import type { Vault } from './vault/vault.js';

interface Parts {
  catalog: Catalog;
  workspace: OpenedWorkspace;
  sessions: Sessions;
  search: ToolSearch;
  config: ServersConfig;
  fleet: Fleet;
  discovery: Discovery;
  settings: Settings;
  hide: Hide;
  tokens: SessionTokens;
  customTools: CustomTools;
  approvals: Approvals;
  lock: ToolLock;
  keys: Keys;
  vault: Vault;
  commandTokens: CommandTokens;
  store: Store;
  bus: EventBus;
  pipeline: CallPipeline;
  logins: Logins;
  recordings: Recordings;
  places: ProcessPlaces;
  assistant: Assistant;
  accounts: Accounts;
  clientDocument(): JsonObject;
  people: People;
  lost(): number;
}

/** Every route off the hot road but the description of all. */
export function plainRoutes(parts: Parts): (PlainRoute | StreamRoute)[] {
  const { catalog, workspace, sessions, search, config, fleet, discovery, settings, hide, tokens } = parts;
  const { customTools, approvals, lock, keys, vault, commandTokens, store, bus, pipeline, logins } = parts;
  const { recordings, places, assistant, accounts, clientDocument, people, lost } = parts;
  return [
    ...healthRoutes(catalog, () => workspace.shell()),
    ...toolRoutes(catalog, sessions, search),
    ...clientFileRoutes({ config, fleet, home: homedir() }),
    ...serverRoutes({
      config,
      fleet,
      catalog,
      discovery,
      bridgeFile: settings.bridgeFile,
      hide,
      signInOf: async (server, principal) => signInShown(await accounts.status(server, principal)),
    }),
    ...sessionRoutes(sessions, tokens),
    ...sessionToolRoutes({
      sessions,
      customTools,
      isTaken: (name) => catalog.view().tool(name)?.provider.kind !== undefined,
    }),
    ...proposalRoutes(approvals, hide),
    ...lockRoutes(lock),
    ...keyRoutes(keys, (principal) => sessions.endAllOf(principal)),
    ...secretRoutes({
      vault,
      config,
      async refresh() {
        await config.refill();
        await fleet.apply(config.servers);
      },
    }),
    ...workspaceRoutes({
      sessions,
      catalog,
      described: workspaceDescriptions,
      guardOfCommands: (session) => commandTokens.guardOf(session),
      forward: (...exchange) => workspace.client.forward(...exchange),
      record: (call) => store.calls.add(call),
    }),
    ...callRoutes({
      queries: store.calls.queries,
      results: store.results,
      retention: store.retention,
      bus,
      cancel: (id, by) => pipeline.running.cancel(id, by),
    }),
    ...replayRoutes({ queries: store.calls.queries, pipeline, sessions }),
    ...statisticsRoutes(store.calls.queries),
    ...eventRoutes(bus, lost),
    ...loginRoutes(logins, people.login),
    ...resourceMetadataRoutes((host) => people.resource?.metadata(host)),
    ...oauthRoutes({ accounts, clientDocument }),
    ...recordingRoutes({ recordings, sessions, queries: store.calls.queries }),
    ...metricsRoutes(houseMetrics({ catalog, pipeline, sessions, approvals, places, store, bus })),
    ...agentRoutes(assistant, sessions),
  ];
}

/** As much of it as belongs to a list of servers. */
function signInShown(status: AccountStatus | undefined) {
  if (!status) return undefined;
  const { state, per, grant, reason } = status;
  return { state, per, grant, ...(reason === undefined ? {} : { reason }) };
}
