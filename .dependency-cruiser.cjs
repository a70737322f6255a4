// Who may import whom (docs/architecture.md). A new edge is a decision: change it here and say why in the commit.
const inside = '^packages/orchestrator/src/';
const sharedOnly = '(^packages/shared/|node_modules/@mcpbridge/shared/|^node:)';

/** A room of the orchestrator and the rooms that it may look into. */
const rooms = {
  auth: [],
  config: [],
  store: [],
  providers: ['config', 'store'],
  catalog: ['providers/[^/]+[.]ts$', 'config', 'store'],
  dialects: ['catalog/view[.]ts$'],
  sessions: ['catalog', 'providers/provider[.]ts$', 'store'],
  calls: ['sessions', 'catalog', 'providers/provider[.]ts$', 'store'],
  http: ['auth', 'calls', 'sessions', 'catalog', 'config', 'store', 'providers/provider[.]ts$'],
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

/** Each of these libraries is known to one place alone. */
const known = {
  express: `${inside}http/app[.]ts$`,
  'find-my-way': `${inside}http/road[.]ts$`,
  '@modelcontextprotocol/client': `${inside}providers/mcp/http[.]ts$`,
  undici: `${inside}providers/mcp/`,
  dockerode: `${inside}providers/mcp/docker/engine[.]ts$`,
  winston: `${inside}log[.]ts$`,
  kysely: `${inside}store/`,
  '@photostructure/sqlite': `${inside}store/sqlite[.]ts$`,
  'jsonc-parser': `${inside}config/`,
  ajv: '^packages/shared/src/validate[.]ts$',
};

const single = Object.entries(known).map(([library, place]) => ({
  name: `${library}-is-known-to-one-place`,
  severity: 'error',
  from: { path: '^packages/', pathNot: place },
  to: { path: `node_modules/${library}/` },
}));

module.exports = {
  forbidden: [
    { name: 'no-circles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'shared-knows-nothing-of-ours',
      severity: 'error',
      from: { path: '^packages/shared/' },
      to: { path: '^packages/(?!shared/)' },
    },
    {
      name: 'bridge-knows-only-shared-and-node',
      severity: 'error',
      from: { path: '^packages/mcpbridge/src/' },
      to: { pathNot: ['^packages/mcpbridge/src/', sharedOnly], dependencyTypesNot: ['core'] },
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
    ...borders,
    ...single,
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^packages/[^/]+/(dist|lib)/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['types', 'import', 'node', 'default'],
    },
  },
};
