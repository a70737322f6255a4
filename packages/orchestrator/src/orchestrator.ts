import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Hide } from '@mcpbridge/shared/secrets.js';
import { mountAssistant } from './assistant.js';
import { Gate } from './auth/gate.js';
import { Keys } from './auth/keys.js';
import { Logins } from './auth/login.js';
import { ownerToken } from './auth/owner-token.js';
import { lineOf } from './call-line.js';
import { Approvals } from './calls/approvals.js';
import { CallPipeline } from './calls/pipeline.js';
import { Catalog } from './catalog/catalog.js';
import { Discovery } from './catalog/discovery.js';
import { Fleet } from './catalog/fleet.js';
import { ToolSearch } from './catalog/search.js';
import { ToolLock } from './catalog/tool-lock.js';
import { readLockFile } from './config/lock-file.js';
import { secretsInEnvironment, secretValues } from './config/secret-values.js';
import { ServersConfig } from './config/servers-config.js';
import { openWorkspace } from './embedded-workspace.js';
import { EventBus } from './events/event-bus.js';
import { houseNews } from './house-news.js';
import { createApp } from './http/app.js';
import { Doors } from './http/doors.js';
import { EventSocket } from './http/event-socket.js';
import { executeRoutes } from './http/execute.js';
import { openApiRoute } from './http/openapi.js';
import { createRoad } from './http/road.js';
import type { RouteDescription } from './http/routes.js';
import { keepLargeResults } from './large-results.js';
import { hideInLog, type Log } from './log.js';
import { McpEndpoint } from './mcp-server/endpoint.js';
import { Accounts } from './oauth/accounts.js';
import { clientDocument } from './oauth/client-document.js';
import { addOwnTools } from './own-tools.js';
import { letPeopleIn } from './people.js';
import { plainRoutes } from './plain-routes.js';
import { McpProvider } from './providers/mcp/mcp-provider.js';
import { ProcessPlaces } from './providers/mcp/pool/process-places.js';
import { Recordings } from './recordings/recordings.js';
import { Secrets } from './secrets.js';
import { followSessions } from './session-followers.js';
import { CommandTokens } from './sessions/command-tokens.js';
import { SessionTokens } from './sessions/session-tokens.js';
import { Sessions } from './sessions/sessions.js';
import type { Settings } from './settings.js';
import { openStore } from './store/store.js';
import { Sealer } from './vault/sealer.js';
import { sealingKey } from './vault/sealing-key.js';
import { Vault } from './vault/vault.js';

/** Time for running calls to finish, then for what is still to be written. */
const DRAIN_MS = 10_000;
const LAST_WORDS_MS = 500;

export interface Orchestrator {
  port: number;
  socket: string;
  config: ServersConfig;
  catalog: Catalog;
  /** A code for the owner's browser, good once. */
  loginCode(): string;
  /** Lets running calls finish within 10 s, then ends everything. */
  close(): Promise<void>;
}

/** The composition root: makes every part, gives each what it needs, and opens the doors last. */
export async function startOrchestrator(settings: Settings, log: Log): Promise<Orchestrator> {
  // What outlives this process, and its secrets.
  const token = ownerToken(settings.home);
  mkdirSync(settings.workspaceFolder, { recursive: true });
  const sealer = new Sealer(sealingKey(settings));
  const store = await openStore(settings.home, log, settings.retention, sealer);
  const { configFile, workspaceFolder, env, maxBodyBytes } = settings;
  const secrets = new Secrets((known) => store.scribe.knows(known));
  const hide: Hide = (text) => secrets.hide(text);
  secrets.learn([token, ...secretsInEnvironment(env)]);
  hideInLog(log, hide);
  const vault = await Vault.open({
    store: store.secrets,
    sealer,
    log,
    onKnown: (values) => secrets.learn(values),
  });
  const config = await ServersConfig.open({
    ...{ file: configFile, workspaceFolder, env, log },
    secret: (name) => vault.lookUp(name),
  });

  // Which tools there are.
  const workspace = await openWorkspace(settings);
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
  const search = await ToolSearch.open();
  const places = new ProcessPlaces(settings.maxProcesses);

  // Who calls.
  const keys = await Keys.open(store.keys, log);
  let listening = settings.port;
  const people = await letPeopleIn(settings, () => listening);
  const sessions = new Sessions(
    store.sessions,
    log,
    (owner) => people.rightsOf(owner) ?? keys.rightsOf(owner),
  );
  const tokens = await SessionTokens.open(store.tokens);
  const commandTokens = new CommandTokens(tokens);

  // Calls, and who watches them.
  const approvals = await Approvals.open({
    store: store.proposals,
    decisions: store.decisions,
    expiresAfterMs: settings.approvalTimeoutMs,
    hide,
    log,
  });
  // Loaded only when they are wanted: with their SDK a start takes twice as long.
  const tracing = settings.traces
    ? await import('./tracing/opentelemetry.js').then(({ openTracing }) =>
        openTracing(settings.traces ?? 'http/protobuf', hide),
      )
    : undefined;
  const timeoutOf = (id: string) => fleet.entry(id)?.timeoutMs;
  const pipeline = new CallPipeline({
    catalog,
    log: store.calls,
    kept: store.kept,
    approvals,
    keepLarge: keepLargeResults({ outputs: store.outputs, client: workspace.client, log }),
    timeoutMs: settings.callTimeoutMs,
    timeoutOf,
    turnRulesOf: (id) => fleet.entry(id)?.turns,
    tracer: tracing,
    onEnded: log.isLevelEnabled('debug')
      ? (record, request) => log.debug('call', lineOf(record, request))
      : undefined,
  });
  const bus = new EventBus({
    log: store.calls,
    running: () => pipeline.running.list(),
    hide,
    onWatched: (watched) => {
      pipeline.running.watcher = watched ? (call) => bus.callChanged(call) : undefined;
      watchHouse(watched);
    },
  });
  const recordings = new Recordings({
    folder: join(settings.home, 'recordings'),
    pipeline,
    hide,
    toolsOf: (session) => catalog.view(session.sessionId).listed(session.effective),
  });
  const watchHouse = houseNews({ bus, catalog, sessions, approvals, hide });

  // Accounts at upstreams, and the tools that no upstream brings.
  let address: { url: string; socket?: string } = { url: '' };
  let ownUrl = settings.publicUrl;
  const accounts = new Accounts({
    home: settings.home,
    timeoutMs: settings.loginTimeoutMs,
    seal: sealer,
    publicUrl: () => ownUrl,
    entryOf: (id) => fleet.entry(id),
    servers: () => fleet.servers.map(({ id }) => id),
    learn: (...account) => secrets.ofAccount(...account),
    onSignedIn: (server, owner) => void fleet.signedIn(server, owner),
    onSignedOut: (server, owner) => void fleet.signedOut(server, owner),
  });
  const endpoint = new McpEndpoint({ catalog, pipeline, sessions, dialect: settings.dialect });

  function createProvider(entry: ConstructorParameters<typeof McpProvider>[0]): McpProvider {
    const provider = new McpProvider(entry, {
      ...settings,
      places,
      log,
      hide,
      credentialsOf: (...whose) => accounts.credentialsOf(...whose),
    });
    provider.onListChanged((sessionId) => catalog.changed(sessionId));
    return provider;
  }

  const assistant = mountAssistant({
    ...{ settings, store, sessions, tokens, log, approvals },
    address: () => address,
  });
  const { customTools, browsers } = addOwnTools({
    ...{
      settings,
      store,
      catalog,
      search,
      sessions,
      commandTokens,
      pipeline,
      approvals,
      endpoint,
      assistant,
    },
    client: workspace.client,
  });
  followSessions({
    ...{ sessions, pipeline, approvals, recordings, catalog, commandTokens, tokens, customTools, store, log },
    secrets,
    endCommands: (guard) => workspace.endSession(guard),
    endBrowser: (sessionId) => browsers.endSession(sessionId),
  });
  secrets.learn(secretValues(config.servers));
  await fleet.apply(config.servers);
  config.onChange(() => {
    secrets.learn(secretValues(config.servers));
    void fleet.apply(config.servers);
  });

  // The doors.
  const logins = new Logins(token);
  const gate = new Gate({
    token,
    allowedHosts: settings.allowedHosts,
    bearerOf: (given) => {
      const bearer = people.accessTokens?.find(given) ?? keys.find(given) ?? tokens.find(given);
      return bearer && keys.isGood(bearer.id) ? bearer : undefined;
    },
    pageOf: (cookies) => {
      const id = logins.holderOf(cookies);
      return id === undefined ? undefined : people.pageOf(id);
    },
    accessTokens: people.accessTokens,
    ...(people.resource ? { challenge: (...what) => people.resource?.challenge(...what) ?? 'Bearer' } : {}),
  });
  const lost = () => store.calls.lost;
  const eventSocket = new EventSocket({ gate, bus, lost });
  const hotRoutes = [...executeRoutes({ pipeline, sessions }), ...endpoint.routes()];
  const described: RouteDescription[] = [...hotRoutes];
  const routes = plainRoutes({
    ...{ settings, hide, config, fleet, catalog, discovery, lock, search, places },
    ...{ pipeline, approvals, bus, lost, recordings },
    ...{ sessions, tokens, commandTokens, customTools, workspace, store, vault, assistant },
    ...{ keys, logins, people, accounts, clientDocument: () => clientDocument(ownUrl) },
  });
  routes.push(openApiRoute(described));
  described.push(...routes);
  const app = createApp({ gate, routes, described, maxBodyBytes, pageFolder: settings.pageFolder });
  const doors = new Doors(
    createRoad({ gate, hotRoutes, rest: app, upgrade: eventSocket.upgrade, maxBodyBytes }),
  );
  const { port, socket } = await doors.open(settings.host, settings.port, settings.home);
  listening = port;
  ownUrl ||= `http://127.0.0.1:${port}`;
  workspace.orchestratorIsAt({ host: reachable(settings.host), port });
  // Over the socket where there is one: the host that it listens on may be one that no request may name.
  address = socket ? { url: 'http://localhost', socket } : { url: `http://127.0.0.1:${port}` };
  await assistant.resume();

  return {
    port,
    socket,
    config,
    catalog,
    loginCode: () => logins.code(),
    async close() {
      config.close();
      await assistant.close(DRAIN_MS);
      await doors.refuseNew();
      await pipeline.running.drained(DRAIN_MS);
      endpoint.close();
      bus.close();
      eventSocket.close();
      await doors.close(LAST_WORDS_MS);
      sessions.close();
      approvals.close();
      await browsers.close();
      await customTools.close();
      await workspace.close();
      await Promise.all([...catalog.allProviders().map((provider) => provider.close()), fleet.close()]);
      await recordings.close();
      await tracing?.close();
      await store.close();
    },
  };
}

/** Where a server that listens on this host is reached from the same machine. */
function reachable(host: string): string {
  return host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
}
