import { AppError } from '@mcpbridge/shared/errors.js';
import type { JsonObject } from '@mcpbridge/shared/json-rpc.js';
import type { Hide } from '@mcpbridge/shared/secrets.js';
import { nearestHint } from '@mcpbridge/shared/tool-names.js';
import type { Catalog } from '../../catalog/catalog.js';
import type { Discovery } from '../../catalog/discovery.js';
import type { Fleet } from '../../catalog/fleet.js';
import type { ConfiguredServer } from '../../config/server-entry.js';
import type { ServersConfig } from '../../config/servers-config.js';
import { type Health, isRelay } from '../../providers/provider.js';
import type { PlainRoute, RouteInput, RouteReply } from '../routes.js';

interface ServerDeps {
  config: ServersConfig;
  fleet: Fleet;
  catalog: Catalog;
  discovery: Discovery;
  /** The built bridge, for entries in clients' configurations. */
  bridgeFile: string;
  /** Blanks secrets: what a server says of itself may hold what it was given. */
  hide: Hide;
  /** Who is signed in at that server, for whoever asks; undefined where nobody signs in. */
  signInOf(
    server: string,
    principal: string,
  ): Promise<{ state: string; per: string; reason?: string } | undefined>;
}

const configBody: JsonObject = {
  type: 'object',
  properties: {
    config: { type: 'object', properties: { mcpServers: { type: 'object' } } },
    mcpServers: { type: 'object' },
  },
};

/** The configuration, what became of it, and the upstreams themselves. Secrets are in none of the answers. */
export function serverRoutes(deps: ServerDeps): PlainRoute[] {
  const { config, discovery } = deps;
  return [
    {
      method: 'GET',
      path: '/api/mcp-config',
      summary: 'The servers as configured, secrets masked',
      run: () => ({ body: config.masked() }),
    },
    {
      method: 'POST',
      path: '/api/mcp-config',
      summary: 'Write the servers into the overlay file; masked values keep what is stored',
      query: { check: 'true: say what is wrong with them, and write nothing' },
      body: configBody,
      run: (input) => save(deps, input),
    },
    {
      method: 'POST',
      path: '/api/mcp-config/discover',
      summary: 'List the tools of all servers anew, side by side',
      run: () => ({ status: 202, body: discovery.start() }),
    },
    {
      method: 'GET',
      path: '/api/mcp-config/discover/{job}',
      summary: 'How a discovery stands, server by server',
      run: ({ params: { job = '' } }) => found(discovery.job(job), `There is no discovery "${job}".`),
    },
    {
      method: 'GET',
      path: '/api/mcp-config/status',
      summary: 'Files, faults and the state of each server',
      run: async ({ principal }) => ({ body: await statusOf(deps, principal.id) }),
    },
    {
      method: 'GET',
      path: '/api/servers/{id}',
      summary:
        'One server: state with its reason, tools, tools set aside, what it sent too much of, last lines of stderr',
      async run({ params: { id = '' }, principal }) {
        const server = serverOf(deps, id);
        return { body: { ...(await summaryOf(deps, server, principal.id)), ...detailsOf(deps, id) } };
      },
    },
    {
      method: 'GET',
      path: '/api/servers/{id}/logs',
      summary: 'The last lines that its processes wrote on stderr, oldest first',
      run: ({ params: { id = '' } }) => {
        const provider = deps.catalog.provider(serverOf(deps, id).id);
        return { body: { id, lines: provider && isRelay(provider) ? provider.stderr.map(deps.hide) : [] } };
      },
    },
    ...Object.entries(ACTIONS).map(
      ([action, { summary, run }]): PlainRoute => ({
        method: 'POST',
        path: `/api/servers/{id}/${action}`,
        summary,
        run: async ({ params: { id = '' }, principal }) => {
          const server = serverOf(deps, id);
          await run(deps.fleet, id);
          return { body: await summaryOf(deps, server, principal.id) };
        },
      }),
    ),
  ];
}

/** What may be done to one server by hand; the rest are not touched. */
const ACTIONS: Record<string, { summary: string; run(fleet: Fleet, id: string): Promise<void> }> = {
  start: {
    summary:
      'Make a stopped server usable again, or try a failed one at once; answers when its tools were listed',
    run: (fleet, id) => fleet.start(id),
  },
  stop: {
    summary: 'End its processes and connections, running calls too; its calls fail until it is started',
    run: (fleet, id) => fleet.stop(id),
  },
  restart: {
    summary: 'Stop and start',
    async run(fleet, id) {
      await fleet.stop(id);
      await fleet.start(id);
    },
  },
};

function serverOf({ fleet }: ServerDeps, id: string): ConfiguredServer {
  const server = fleet.servers.find((candidate) => candidate.id === id);
  const ids = fleet.servers.map((known) => known.id);
  if (!server) throw new AppError('UNKNOWN_SERVER', `There is no server "${id}".${nearestHint(id, ids)}`);
  return server;
}

async function save(
  { config, fleet }: ServerDeps,
  { body, query, principal }: RouteInput,
): Promise<RouteReply> {
  const given = (body ?? {}) as { config?: { mcpServers?: unknown }; mcpServers?: unknown };
  const servers = given.config?.mcpServers ?? given.mcpServers;
  if (query.check === 'true') return { body: { faults: await config.check(servers) } };
  await config.save(servers, principal);
  await fleet.apply(config.servers);
  return { body: { status: 'saved', servers: config.servers.map((server) => server.id) } };
}

async function statusOf(deps: ServerDeps, principal: string): Promise<JsonObject> {
  const { config, catalog, discovery } = deps;
  return {
    config_path: config.paths.base,
    user_config_path: config.paths.overlay,
    bridge_path: deps.bridgeFile,
    faults: config.faults,
    servers: await Promise.all(config.servers.map((server) => summaryOf(deps, server, principal))),
    total_servers: config.servers.length,
    total_tools: catalog.view().tools.length,
    ...(discovery.last ? { last_discovery: discovery.last } : {}),
  };
}

async function summaryOf(
  { catalog, hide, signInOf }: ServerDeps,
  server: ConfiguredServer,
  principal: string,
): Promise<JsonObject> {
  const { id, origin, state } = server;
  if (server.state === 'faulty') return { id, origin, state, faults: server.faults, tools: 0 };
  if (server.state === 'disabled') return { id, origin, state, tools: 0 };
  const { description, isolation, transport } = server.entry;
  const signIn = await signInOf(id, principal);
  return {
    id,
    origin,
    ...hiddenReason(catalog.provider(id)?.health ?? { state: 'stopped' }, hide),
    tools: catalog.view().toolsOf(id).length,
    transport: transport.kind,
    isolation,
    ...(description === undefined ? {} : { description }),
    // Most servers ask nobody who they are.
    ...(signIn && signIn.state !== 'unknown' ? { sign_in: signIn } : {}),
  };
}

function detailsOf({ catalog, hide }: ServerDeps, id: string): JsonObject {
  const provider = catalog.provider(id);
  if (!provider) return {};
  return {
    tool_names: catalog
      .view()
      .toolsOf(id)
      .map((tool) => tool.name),
    set_aside: provider.listed?.rejected ?? [],
    changed: catalog.lock?.changed(id) ?? [],
    ...(isRelay(provider) ? { bounded: provider.bounded, stderr: provider.stderr.map(hide) } : {}),
  };
}

/** Reasons repeat the last words of a server. */
function hiddenReason(health: Health, hide: Hide): Health {
  return 'reason' in health ? { ...health, reason: hide(health.reason) } : health;
}

function found(body: unknown, otherwise: string): RouteReply {
  if (body === undefined) throw new AppError('NOT_FOUND', otherwise);
  return { body };
}
