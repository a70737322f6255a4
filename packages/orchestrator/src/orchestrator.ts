import { mkdirSync } from 'node:fs';
import { messageOf } from '@mcpbridge/shared/errors.js';
import { Gate } from './auth/gate.js';
import { ownerToken } from './auth/owner-token.js';
import { Approvals } from './calls/approvals.js';
import { CallPipeline } from './calls/pipeline.js';
import { Catalog } from './catalog/catalog.js';
import { Discovery } from './catalog/discovery.js';
import { Fleet } from './catalog/fleet.js';
import { ToolSearch } from './catalog/search.js';
import { ToolLock } from './catalog/tool-lock.js';
import { readLockFile } from './config/lock-file.js';
import { ServersConfig } from './config/servers-config.js';
import { createApp } from './http/app.js';
import { Doors } from './http/doors.js';
import { executeRoutes } from './http/execute.js';
import { openApiDocument } from './http/openapi.js';
import { createRoad } from './http/road.js';
import { callRoutes } from './http/routes/calls.js';
import { healthRoutes } from './http/routes/health.js';
import { lockRoutes } from './http/routes/lock.js';
import { proposalRoutes } from './http/routes/proposals.js';
import { serverRoutes } from './http/routes/servers.js';
import { sessionToolRoutes } from './http/routes/session-tools.js';
import { sessionRoutes } from './http/routes/sessions.js';
import { toolRoutes } from './http/routes/tools.js';
import type { PlainRoute, RouteDescription } from './http/routes.js';
import type { Log } from './log.js';
import { McpEndpoint } from './mcp-server/endpoint.js';
import { CustomTools } from './providers/custom/custom-tools.js';
import { FunctionProvider } from './providers/function-provider.js';
import { McpProvider } from './providers/mcp/mcp-provider.js';
import { ProcessPlaces } from './providers/mcp/process-places.js';
import { SessionTokens } from './sessions/session-tokens.js';
import { Sessions } from './sessions/sessions.js';
import type { Settings } from './settings.js';
import { openStore } from './store/store.js';
import { virtualTools } from './virtual-tools.js';

/** Time for running calls to finish, then for what is still to be written. */
const DRAIN_MS = 10_000;
const LAST_WORDS_MS = 500;

export interface Orchestrator {
  port: number;
  socket: string;
  config: ServersConfig;
  catalog: Catalog;
  /** Lets running calls finish within 10 s, then ends everything. */
  close(): Promise<void>;
}

/** The composition root: makes every part, gives each what it needs, and opens the doors last. */
export async function startOrchestrator(settings: Settings, log: Log): Promise<Orchestrator> {
  const token = ownerToken(settings.home);
  mkdirSync(settings.workspaceFolder, { recursive: true });
  const store = await openStore(settings.home, log);
  const { configFile, workspaceFolder, env, maxBodyBytes } = settings;
  const config = await ServersConfig.open({ file: configFile, workspaceFolder, env, log });

  const catalog = new Catalog();
  const lock = await ToolLock.open({
    store: store.lock,
    file: settings.lockFile ? readLockFile(settings.lockFile) : undefined,
    log,
    onChange: () => catalog.changed(),
  });
  catalog.lock = lock;
  const fleet = new Fleet({ catalog, lists: store.toolLists, create: (entry) => createProvider(entry), log });
  const discovery = new Discovery(fleet);
  const sessions = new Sessions(store.sessions, log);
  const tokens = await SessionTokens.open(store.tokens);
  const approvals = new Approvals();
  const places = new ProcessPlaces(settings.maxProcesses);
  const timeoutOf = (id: string) => fleet.entry(id)?.timeoutMs;
  const pipeline = new CallPipeline({
    catalog,
    log: store.calls,
    approvals,
    outputs: store.outputs,
    timeoutMs: settings.callTimeoutMs,
    timeoutOf,
  });
  const endpoint = new McpEndpoint({ catalog, pipeline, sessions, dialect: settings.dialect });

  function createProvider(entry: ConstructorParameters<typeof McpProvider>[0]): McpProvider {
    const provider = new McpProvider(entry, { ...settings, places, log });
    provider.onListChanged((sessionId) => catalog.changed(sessionId));
    return provider;
  }

  const search = await ToolSearch.open();
  const virtual = virtualTools({
    catalog,
    sessions,
    pipeline,
    approvals,
    search,
    endpoint,
    outputs: store.outputs,
  });
  catalog.add(new FunctionProvider('virtual', 'virtual', virtual));
  const custom = new FunctionProvider('custom', 'custom', []);
  catalog.add(custom);
  const customTools = new CustomTools({
    provider: custom,
    store: store.sessionTools,
    hosts: settings.callbackHosts,
    maxBytes: settings.maxMessageBytes,
    onChange: (sessionId) => catalog.changed(sessionId),
  });
  sessions.on('open', ({ sessionId }) => customTools.load(sessionId));
  sessions.on('policy', ({ sessionId, effective }) => catalog.restrict(sessionId, effective.rules));
  sessions.on('end', (session) => {
    const { sessionId } = session;
    pipeline.cancelSession(session);
    for (const provider of catalog.allProviders()) void provider.endSession(sessionId);
    catalog.forgetSession(sessionId);
    const gone = [tokens.revoke(sessionId), customTools.forget(sessionId), store.outputs.forget(sessionId)];
    Promise.all(gone).catch((error) =>
      log.warn(`Of session "${sessionId}" something stays: ${messageOf(error)}`),
    );
  });
  await fleet.apply(config.servers);
  config.onChange(() => void fleet.apply(config.servers));

  const { allowedHosts } = settings;
  const gate = new Gate({ token, allowedHosts, sessionOf: (given) => tokens.find(given) });
  const hotRoutes = [...executeRoutes({ pipeline, sessions }), ...endpoint.routes()];
  const described: RouteDescription[] = [...hotRoutes];
  const openApi: PlainRoute = {
    method: 'GET',
    path: '/api/openapi.json',
    summary: 'This description',
    open: true,
    run: () => ({ body: openApiDocument(described) }),
  };
  const routes = [
    ...healthRoutes(catalog),
    ...toolRoutes(catalog, sessions, search),
    ...serverRoutes({ config, fleet, catalog, discovery }),
    ...sessionRoutes(sessions, tokens),
    ...sessionToolRoutes({
      sessions,
      customTools,
      isTaken: (name) => catalog.view().tool(name)?.provider.kind !== undefined,
    }),
    ...proposalRoutes(approvals),
    ...lockRoutes(lock),
    ...callRoutes(store.calls),
    openApi,
  ];
  described.push(...routes);
  const app = createApp({ gate, routes, described, maxBodyBytes });
  const doors = new Doors(createRoad({ gate, hotRoutes, rest: app, maxBodyBytes }));
  const { port, socket } = await doors.open(settings.host, settings.port, settings.home);

  return {
    port,
    socket,
    config,
    catalog,
    async close() {
      config.close();
      doors.refuseNew();
      await pipeline.drained(DRAIN_MS);
      endpoint.close();
      await doors.close(LAST_WORDS_MS);
      sessions.close();
      await Promise.all([...catalog.allProviders().map((provider) => provider.close()), fleet.close()]);
      await store.close();
    },
  };
}
