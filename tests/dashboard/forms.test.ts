import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { api } from '../support/api.js';
import { type RunningOrchestrator, startOrchestrator } from '../support/orchestrator.js';
import { eventually, fixture, root } from '../support/processes.js';
import { startBridge } from '../support/road.js';
import type { StdioPeer } from '../support/stdio-peer.js';
import { useBrowser } from './support/browser.js';
import { exampleOf, type Schema, usualOf } from './support/example.js';
import { ToolForm } from './support/tool-form.js';
import { allowProblems, open } from './support/visit.js';

const browser = useBrowser();
const SESSION = 'forms';
const VIEW = `/tools?session=${SESSION}`;
/** For what a busy machine may take, and no promise of ours. */
const PATIENCE_MS = 60_000;
let folder: string;
let running: RunningOrchestrator;
let tools: { name: string; server: string; inputSchema: Schema }[];

const shipped = (name: string) => `${root}/node_modules/@modelcontextprotocol/server-${name}/dist/index.js`;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mcpbridge-forms-'));
  const real = {
    filesystem: [shipped('filesystem'), folder],
    memory: [shipped('memory')],
    'sequential-thinking': [shipped('sequential-thinking')],
    everything: [shipped('everything')],
    // Its tools are listed without a browser, and it finds none.
    playwright: [
      `${root}/node_modules/playwright-core/cli.js`,
      'mcp',
      '--executable-path',
      join(folder, 'none'),
    ],
  };
  running = await startOrchestrator({
    servers: Object.fromEntries(
      Object.entries(real).map(([name, program]) => [
        name,
        {
          command: process.execPath,
          args: [fixture('tap.mjs'), tapOf(name), ...program],
          // Nothing is fetched from anywhere.
          env: { MEMORY_FILE_PATH: join(folder, 'memory.jsonl'), GZIP_ALLOWED_DOMAINS: 'nowhere.invalid' },
        },
      ]),
    ),
  });
  // A client that can do everything: some tools are for such alone.
  const client = startBridge(running, { MCP_SESSION_ID: SESSION });
  void decline(client);
  await client.initialize({ roots: {}, sampling: {}, elicitation: { form: {}, url: {} } });
  tools = (await api(running, SESSION).get('/api/tools')).body.tools.filter(
    ({ server }: { server: string }) => server in real,
  );
});
afterAll(async () => {
  await running.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Whatever a server asks of the client is refused, so that no call waits for it. */
async function decline(client: StdioPeer): Promise<void> {
  for (const refused = new Set(); ; ) {
    const { id } = await client.waitFor(({ method, id }) => method && id !== undefined && !refused.has(id));
    client.send({ id, error: { code: -32601, message: 'not here' } });
    refused.add(id);
  }
}

const tapOf = (server: string) => join(folder, `${server}.tap`);

/** The arguments of the calls that reached a server's input, by its tool's name there. */
async function received(server: string): Promise<{ tool: string; args: unknown }[]> {
  const lines = (await readFile(tapOf(server), 'utf8')).split('\n').filter(Boolean);
  return lines.flatMap((line) => {
    const { method, params } = JSON.parse(line);
    return method === 'tools/call' ? [{ tool: params.name, args: params.arguments ?? {} }] : [];
  });
}

/** The arguments in the log of a tool's call, once there are so many. */
async function recorded(server: string, tool: string, count: number): Promise<unknown> {
  const id = await eventually(
    `"${tool}" is in the log`,
    async () => {
      const { calls } = (
        await api(running)
          .get('/api/calls')
          .query({ q: `server:${server} tool:${tool}` })
      ).body;
      return calls.length === count && calls[0].id;
    },
    PATIENCE_MS,
  );
  return (await api(running).get(`/api/calls/${id}`)).body.arguments;
}

const hasOptional = ({ properties = {}, required = [] }: Schema) =>
  Object.keys(properties).some((name) => !required.includes(name));

test.each([
  ['every field', false],
  ['the required fields alone', true],
])(
  'each schema of five real servers is a form that, with %s, sends exactly the JSON beside it',
  async (_, isLeast) => {
    // One tool answers with an error when it is asked to, and it is.
    allowProblems(/status of 502/);
    expect(new Set(tools.map(({ server }) => server)).size).toBe(5);
    expect(tools.length).toBeGreaterThan(60);
    const page = await open(browser(), running, VIEW);
    const found: [name: string, seen: object, right: object][] = [];
    // Where all is required, one way to fill it in is all there is.
    const chosen = isLeast ? tools.filter(({ inputSchema }) => hasOptional(inputSchema)) : tools;
    for (const { name, server, inputSchema } of chosen) {
      const form = await ToolForm.of(page, VIEW, name);
      const usual = usualOf(inputSchema);
      const wanted = { ...usual, ...(exampleOf(inputSchema, isLeast) as object) };
      const untouched = await form.json();
      await form.fill(inputSchema, wanted);
      const [shown, faults] = [await form.json(), await form.faults()];
      const before = (await received(server)).length;
      if (faults.length === 0) await form.run();
      const sent =
        faults.length === 0 &&
        (await eventually(`"${name}" is called`, async () => (await received(server))[before], PATIENCE_MS));
      const own = name.slice(server.length + 2);
      found.push([
        name,
        { untouched, shown, faults, sent },
        { untouched: usual, shown: wanted, faults: [], sent: { tool: own, args: wanted } },
      ]);
    }
    expect(found.filter(([, seen, right]) => !isDeepStrictEqual(seen, right))).toEqual([]);
    const recordedAs = await Promise.all(
      chosen.map(async ({ name, server }) => [
        name,
        await recorded(server, name.slice(server.length + 2), isLeast ? 2 : 1),
      ]),
    );
    expect(recordedAs).toEqual(found.map(([name, seen]) => [name, (seen as { shown: object }).shown]));
  },
);

test('what is written as JSON is in the fields, and a field that is emptied is not sent', async () => {
  const page = await open(browser(), running, VIEW);
  const form = await ToolForm.of(page, VIEW, 'sequential-thinking__sequentialthinking');
  const field = (name: string) => form.field(`argument_${name}`);
  await field('nextThoughtNeeded').fill('"no, ');
  await field('branchId').fill('b');
  await form.write({ thought: 'first', nextThoughtNeeded: true, thoughtNumber: 3, totalThoughts: 4 });
  expect(await field('nextThoughtNeeded').inputValue()).toBe('true');
  expect(await field('branchId').inputValue()).toBe('');
  expect(await field('thoughtNumber').inputValue()).toBe('3');
  await field('totalThoughts').fill('');
  await field('nextThoughtNeeded').fill(' "yes" ');
  expect(await field('nextThoughtNeeded').inputValue()).toBe(' "yes" ');
  expect(await form.json()).toEqual({ thought: 'first', nextThoughtNeeded: 'yes', thoughtNumber: 3 });
  expect((await form.faults()).join()).toContain('totalThoughts');
});
