import { mkdirSync } from 'node:fs';
import { Gate } from './auth/gate.js';
import { ownerToken } from './auth/owner-token.js';
import { CallPipeline } from './calls/pipeline.js';
import { Catalog } from './catalog/catalog.js';
import { Discovery } from './catalog/discovery.js';
import { Fleet } from './catalog/fleet.js';
import { ServersConfig } from './config/servers-config.js';
import { createApp } from './http/app.js';
import { Doors } from './http/doors.js';
import { executeRoutes } from './http/execute.js';
import { openApiDocument } from './http/openapi.js';
import { createRoad } from './http/road.js';
import { callRoutes } from './http/routes/calls.js';
import { healthRoutes } from './http/routes/health.js';
import { serverRoutes } from './http/routes/servers.js';
import { sessionRoutes } from './http/routes/sessions.js';
import { toolRoutes } from './http/routes/tools.js';
import type { PlainRoute, RouteDescription } from './http/routes.js';
import type { Log } from './log.js';
import { McpEndpoint } from './mcp-server/endpoint.js';
import { FunctionProvider } from './providers/function-provider.js';
import { McpProvider } from './providers/mcp/mcp-provider.js';
import { getApiSpec } from './providers/virtual/get-api-spec.js';
import { Sessions } from './sessions/sessions.js';
import type { Settings } from './settings.js';
import { openStore } from './store/store.js';

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
  const fleet = new Fleet({ catalog, lists: store.toolLists, create: (entry) => createProvider(entry), log });
  const discovery = new Discovery(fleet);
  const sessions = new Sessions(store.sessions, log);
  const timeoutOf = (id: string) => fleet.entry(id)?.timeoutMs;
  const pipeline = new CallPipeline({
    catalog,
    log: store.calls,
    timeoutMs: settings.callTimeoutMs,
    timeoutOf,
  });
  const endpoint = new McpEndpoint({ catalog, pipeline, sessions });

  function createProvider(entry: ConstructorParameters<typeof McpProvider>[0]): McpProvider {
    const provider = new McpProvider(entry, { ...settings, log });
    provider.onListChanged((sessionId) => catalog.changed(sessionId));
    return provider;
  }

  catalog.add(
    new FunctionProvider('virtual', 'virtual', [getApiSpec((sessionId) => catalog.view(sessionId).tools)]),
  );
  catalog.add(new FunctionProvider('custom', 'custom', []));
  sessions.onEnd((session) => {
    pipeline.cancelSession(session);
    for (const provider of catalog.allProviders()) void provider.endSession(session.sessionId);
    catalog.forgetSession(session.sessionId);
  });
  await fleet.apply(config.servers);
  config.onChange(() => void fleet.apply(config.servers));

  const gate = new Gate({ token, allowedHosts: settings.allowedHosts });
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
    ...toolRoutes(catalog),
    ...serverRoutes({ config, fleet, catalog, discovery }),
    ...sessionRoutes(sessions),
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
      await Promise.all(catalog.allProviders().map((provider) => provider.close()));
      await store.close();
    },
  };
}
