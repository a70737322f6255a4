// An MCP server with many tools, for catalogs of thousands: node many-tools.mjs NAME COUNT
const [, , name, count] = process.argv;
const verbs = ['create', 'read', 'update', 'delete', 'list', 'search', 'export', 'merge', 'close', 'assign'];
const things = ['issue', 'invoice', 'calendar event', 'contact', 'message', 'file', 'deployment', 'report'];
const tools = Array.from({ length: Number(count) }, (_, index) => {
  const verb = verbs[index % verbs.length];
  const thing = things[Math.floor(index / verbs.length) % things.length];
  return {
    name: `${verb}_${thing.replaceAll(' ', '_')}_${index}`,
    description: `${verb} the ${thing} of ${name}, number ${index}; answers it as JSON with its history`,
    inputSchema: {
      type: 'object',
      properties: {
        id: { type: 'string', description: `Id of the ${thing}` },
        fields: { type: 'array', items: { type: 'string' }, description: 'Only these fields' },
        limit: { type: 'integer', minimum: 1, maximum: 100 },
      },
      required: ['id'],
    },
  };
});
const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name, version: '1.0.0' },
  }),
  'tools/list': () => ({ tools }),
};

let rest = '';
process.stdin.on('data', (chunk) => {
  const lines = (rest + chunk).split('\n');
  rest = lines.pop();
  for (const line of lines) {
    const { id, method, params } = JSON.parse(line);
    if (id === undefined) continue;
    const result = answers[method]?.(params ?? {}) ?? {};
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`);
  }
});
process.stdin.on('end', () => process.exit(0));
