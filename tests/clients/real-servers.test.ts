import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { DIALECT_NAMES } from '@mcpbridge/shared/dialect-names.js';
import { type ListedTool, refusals } from '../support/dialect-rules.js';
import { type RunningOrchestrator, startOrchestrator } from '../support/orchestrator.js';
import { eventually } from '../support/processes.js';
import { installRealServers } from '../support/real-servers.mjs';
import { startBridge, textOf } from '../support/road.js';

interface ServerView {
  id: string;
  state: string;
  reason?: string;
  tools: number;
  set_aside?: object[];
}

let running: RunningOrchestrator;
let ids: string[];
beforeAll(async () => {
  const { servers } = await installRealServers();
  ids = Object.keys(servers);
  running = await startOrchestrator({ servers });
  await eventually('all have listed their tools', async () => (await states()).every(hasSettled), 60_000);
});
afterAll(() => running.stop());

const hasSettled = ({ state }: ServerView) => state === 'ready' || state === 'failed';
const get = async (path: string) => (await fetch(running.url + path, { headers: running.headers() })).json();
const states = async () => ((await get('/api/mcp-config/status')) as { servers: ServerView[] }).servers;

test('a mix of real servers is listed, and no tool of them is set aside', async () => {
  for (const id of ids) {
    const server = (await get(`/api/servers/${id}`)) as ServerView;
    expect(server).toMatchObject({ state: 'ready', set_aside: [] });
    expect([id, server.tools > 0]).toEqual([id, true]);
  }
});

/** What needs no account and no browser: a tool of each, its arguments, and words of the answer. */
const USES: [tool: string, args: object, answer: string][] = [
  ['filesystem__list_directory', { path: '.' }, '[DIR] node_modules'],
  ['memory__read_graph', {}, '"entities"'],
  ['everything__echo', { message: 'grüße' }, 'Echo: grüße'],
  [
    'thinking__sequentialthinking',
    { thought: 'Is it here?', thoughtNumber: 1, totalThoughts: 1, nextThoughtNeeded: false },
    '"thoughtNumber": 1',
  ],
  ['dbhub__execute_sql', { sql: 'SELECT count(*) AS employees FROM employee' }, '"employees": 1000'],
];

test('a tool of each that needs no account and no browser is called through the bridge and answers', async () => {
  const bridge = startBridge(running, { MCP_SESSION_ID: 'uses' });
  await bridge.initialize();
  for (const [name, args, answer] of USES) {
    const reply = await bridge.request('tools/call', { name, arguments: args });
    expect([name, textOf(reply)]).toEqual([name, expect.stringContaining(answer)]);
  }
  bridge.close();
});

test.each(DIALECT_NAMES.filter((name) => name !== 'off'))(
  'in the dialect of %s nothing of them is refused, and none is missing',
  async (dialect) => {
    const bridge = startBridge(running, { MCP_DIALECT: dialect, MCP_SESSION_ID: 'uses' });
    await bridge.initialize();
    const { result } = await bridge.request('tools/list');
    const tools: ListedTool[] = result.tools;
    const all = (await states()).reduce((sum, server) => sum + server.tools, 0);
    expect(tools.length).toBeGreaterThanOrEqual(all);
    expect(refusals(dialect as Parameters<typeof refusals>[0], tools)).toEqual([]);
    // As this client was told to call it.
    const sql = tools.find(({ name }) => /dbhub.*execute_sql/.test(name));
    const reply = await bridge.request('tools/call', {
      name: sql?.name,
      arguments: { sql: 'SELECT max(emp_no) AS last FROM employee' },
    });
    expect(textOf(reply)).toContain('"last": ');
    bridge.close();
  },
);
