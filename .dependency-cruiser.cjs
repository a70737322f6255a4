// Who may import whom (docs/architecture.md). A new edge is a decision: change it here and say why in the commit.
const inside = '^packages/orchestrator/src/';
const sharedOnly = '(^packages/shared/|node_modules/@mcpbridge/shared/|^node:)';

/** Of `shared`: what is pure, or types alone. */
const inBrowsers = 'call-filter|call-row|call-statistics|errors|events|json-rpc';

/** A room of the orchestrator and the rooms that it may look into. */
const rooms = {
  auth: ['store'],
  config: [],
  store: [],
  events: ['store'],
  tracing: [],
  recordings: ['calls', 'sessions'],
  outgoing: [],
  vault: ['store'],
  providers: ['config', 'outgoing', 'store'],
  // Where people and machines sign in at upstreams; who connects to them knows only the face of it.
  oauth: ['config', 'outgoing', 'providers/mcp/credentials[.]ts$'],
  catalog: ['providers/[^/]+[.]ts$', 'config', 'store'],
  dialects: ['catalog/view[.]ts$'],
  sessions: ['catalog', 'providers/provider[.]ts$', 'store'],
  calls: ['sessions', 'catalog', 'events', 'tracing/call-tracer[.]ts$', 'providers/provider[.]ts$', 'store'],
  http: [
    'auth',
    'calls',
    'recordings',
    'sessions',
    'catalog',
    'config',
    'events',
    'store',
    'oauth/accounts[.]ts$',
    'vault',
    'providers/provider[.]ts$',
  ],
  'mcp-server': ['http', 'calls', 'sessions', 'catalog', 'dialects', 'providers/provider[.]ts$'],
};

const borders = Object.entries(rooms).map(([room, allowed]) => ({
  name: `${room}-looks-only-where-it-may`,
  severity: 'error',
  from: { path: `${inside}${room}/` },
  to: {
    path: inside,
    pathNot: [
      `${inside}${room}/`,
      `${inside}(log|settings|version)[.]ts$`,
      ...allowed.map((path) => `${inside}${path}`),
    ],
  },
}));

/** Rooms of `providers/mcp`, and the others of them that each may look into; its plain files but the provider are for all. */
const mcpRooms = {
  bounds: [],
  http: ['bounds'],
  stdio: ['bounds'],
  docker: ['stdio', 'bounds'],
  peer: ['bounds'],
  connection: ['peer'],
  health: ['connection'],
  pool: ['health', 'connection', 'peer', 'bounds'],
  tools: ['pool', 'health', 'bounds'],
};

const mcpBorders = Object.entries(mcpRooms).map(([room, allowed]) => ({
  name: `providers-mcp-${room}-looks-only-where-it-may`,
  severity: 'error',
  from: { path: `${inside}providers/mcp/${room}/` },
  to: {
    path: `${inside}providers/mcp/`,
    pathNot: [
      `${inside}providers/mcp/(?!mcp-provider|open-transport)[^/]+[.]ts$`,
      ...(room === 'pool' ? [`${inside}providers/mcp/open-transport[.]ts$`] : []),
      ...[room, ...allowed].map((other) => `${inside}providers/mcp/${other}/`),
    ],
  },
}));

/** Each of these libraries is known to one place alone. */
const known = {
  express: `(${inside}http/(app|page)|^workspace-api/src/http/app)[.]ts$`,
  compression: `${inside}http/page[.]ts$`,
  ws: `${inside}http/event-(socket|sinks)[.]ts$`,
  'find-my-way': `${inside}http/road[.]ts$`,
  '@modelcontextprotocol/client': `${inside}(providers/mcp/http/(lanes|shown-tokens)|oauth/(sign-in|renewal|login-failure))[.]ts$`,
  'openid-client': `${inside}auth/oidc-login[.]ts$`,
  'proper-lockfile': `${inside}oauth/token-file[.]ts$`,
  undici: `${inside}(outgoing/outgoing|providers/workspace/workspace-(client|pool|pulse))[.]ts$`,
  'ipaddr.js': `${inside}outgoing/addresses[.]ts$`,
  dockerode: `${inside}providers/mcp/docker/engine[.]ts$`,
  'playwright-core': `${inside}providers/browser/chromium[.]ts$`,
  '@opentelemetry': `${inside}tracing/`,
  'prom-client': `${inside}(house-metrics|store/call-metrics)[.]ts$`,
  koffi: '^workspace-api/src/sandbox/(landlock|connect)-calls[.]ts$',
  winston: `${inside}log[.]ts$`,
  kysely: `${inside}store/`,
  jose: `${inside}(vault/sealer|auth/access-tokens)[.]ts$`,
  diff: '^workspace-api/src/diff/',
  '@fastify/busboy': '^workspace-api/src/files/read-upload[.]ts$',
  '@photostructure/sqlite': '^packages/shared/src/sqlite-module[.]ts$',
  'jsonc-parser': `${inside}config/`,
  'smol-toml': `${inside}config/client-dialects[.]ts$`,
  re2js: `${inside}calls/linear-pattern[.]ts$`,
  ajv: '^packages/shared/src/validate[.]ts$',
  '@anthropic-ai/sdk': '^packages/agent/src/brains/anthropic[.]ts$',
  openai: '^packages/agent/src/brains/(openai|text-react)[.]ts$',
  yaml: '^packages/agent/src/parse-yaml[.]ts$',
  picomatch: '^workspace-api/src/search/globs[.]ts$',
  '@eslint-community/regexpp': '^workspace-api/src/search/loose-pattern[.]ts$',
};

const single = Object.entries(known).map(([library, place]) => ({
  name: `${library}-is-known-to-one-place`,
  severity: 'error',
  from: { path: '^(packages|workspace-api)/', pathNot: place },
  to: { path: `node_modules/${library}/` },
}));

module.exports = {
  forbidden: [
    { name: 'no-circles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'shared-knows-nothing-of-ours',
      severity: 'error',
      from: { path: '^packages/shared/' },
      to: { path: '^(packages/(?!shared/)|workspace-api/)' },
    },
    {
      name: 'bridge-knows-only-shared-and-node',
      severity: 'error',
      from: { path: '^packages/mcpbridge/src/' },
      to: { pathNot: ['^packages/mcpbridge/src/', sharedOnly], dependencyTypesNot: ['core'] },
    },
    {
      name: 'workspace-knows-only-shared-of-ours',
      severity: 'error',
      from: { path: '^workspace-api/src/' },
      to: {
        path: '(^packages/|node_modules/@mcpbridge/)',
        pathNot: '(^packages/shared/|node_modules/@mcpbridge/shared/)',
      },
    },
    {
      name: 'the-sandbox-knows-folders-and-nothing-of-who-uses-them',
      severity: 'error',
      from: { path: '^workspace-api/src/sandbox/' },
      to: { path: '^workspace-api/src/(?!sandbox/)' },
    },
    {
      name: 'only-the-root-turns-paths-into-real-ones',
      severity: 'error',
      from: { path: '^workspace-api/src/(routes|http)/' },
      to: { path: '^(node:)?fs(/promises)?$' },
    },
    {
      name: 'only-the-composition-root-knows-the-embedded-workspace',
      severity: 'error',
      from: { path: inside, pathNot: `${inside}(orchestrator|embedded-workspace)[.]ts$` },
      to: { path: '(^workspace-api/|node_modules/@mcpbridge/workspace-api/)' },
    },
    {
      // The bridge is its dependency in any case, so it writes entries by the function that the bridge publishes for it.
      name: 'agent-session-knows-only-shared-and-what-the-bridge-publishes',
      severity: 'error',
      from: { path: '^packages/agent-session/src/' },
      to: {
        pathNot: [
          '^packages/agent-session/src/',
          sharedOnly,
          '(^packages|node_modules)/mcpbridge/dist/(types/)?client-config[.](js|d[.]ts)$',
        ],
        dependencyTypesNot: ['core'],
      },
    },
    {
      // A page is read by strangers' browsers: of ours it has the contract's types, and the modules that need nothing of Node.
      name: 'dashboard-knows-only-what-runs-in-a-browser',
      severity: 'error',
      from: { path: '^packages/dashboard/src/' },
      to: {
        path: '^packages/|^node:|@mcpbridge/',
        pathNot: [
          '^packages/dashboard/src/',
          `(^packages|node_modules/@mcpbridge)/shared/(src|dist)/(${inBrowsers})[.]`,
        ],
      },
    },
    {
      name: 'nobody-knows-the-dashboard',
      severity: 'error',
      from: { pathNot: '^packages/dashboard/' },
      to: { path: '^packages/dashboard/' },
    },
    {
      name: 'agent-knows-only-shared',
      severity: 'error',
      from: { path: '^packages/agent/src/' },
      to: { path: '^packages/', pathNot: '^packages/(agent/src|shared)/' },
    },
    ...borders,
    ...mcpBorders,
    ...single,
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(packages/[^/]+|workspace-api)/(dist|lib)/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['types', 'import', 'node', 'default'],
    },
  },
};
