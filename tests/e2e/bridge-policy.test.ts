import { afterAll, beforeAll, expect } from '@jest/globals';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { verifies } from '../requirements.js';
import { api } from '../support/api.js';
import { type RunningOrchestrator, startOrchestrator } from '../support/orchestrator.js';
import { bridgeFile, eventually, plainEnv } from '../support/processes.js';
import { featuresServer } from '../support/road.js';

let running: RunningOrchestrator;
const clients: Client[] = [];
beforeAll(async () => {
  running = await startOrchestrator({ servers: { one: featuresServer(), two: featuresServer() } });
});
afterAll(async () => {
  for (const client of clients) await client.close();
  await running.stop();
});

/** An MCP client that spawns the built bridge with the token of a session, as an agent's configuration has it. */
async function clientOf(policy: object): Promise<Client> {
  const { body } = await api(running).post('/api/sessions').send(policy);
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(plainEnv())) if (value !== undefined) env[name] = value;
  // No home to find the owner's token or socket in.
  Object.assign(env, {
    MCPBRIDGE_HOME: '/nonexistent',
    MCP_API_URL: `${running.url}/api`,
    MCP_API_TOKEN: body.token,
  });
  const client = new Client({ name: 'policy-test', version: '1.0.0' });
  clients.push(client);
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [bridgeFile], env }));
  return client;
}

const namesOf = async (client: Client) => (await client.listTools()).tools.map(({ name }) => name);
const call = (client: Client, name: string, args: Record<string, unknown> = { text: 'x' }, options = {}) =>
  client.callTool({ name, arguments: args }, CallToolResultSchema, options);
const textOf = ({ content }: Awaited<ReturnType<typeof call>>) =>
  (content as { text?: string }[]).map(({ text }) => text).join('');

async function proposals(): Promise<{ id: string; tool: string }[]> {
  return (await api(running).get('/api/proposals')).body.proposals;
}
const decide = (id: string, decision: object) => api(running).post(`/api/proposals/${id}`).send(decision);

verifies('bridge.policy', async () => {
  const client = await clientOf({
    tools: { allow: ['one__*'], deny: ['one__fail'], approve: ['one__counter'] },
  });
  const names = await namesOf(client);
  expect(names).toContain('one__echo');
  expect(names).toContain('one__counter');
  expect(names.filter((name) => name.startsWith('two__') || name === 'one__fail')).toEqual([]);
  expect(textOf(await call(client, 'one__echo', { text: 'allowed' }))).toBe('allowed');
  for (const name of ['one__fail', 'two__echo']) {
    const refused = await call(client, name);
    expect([refused.isError, textOf(refused)]).toEqual([true, expect.stringContaining('TOOL_NOT_ALLOWED')]);
  }
  for (const accept of [true, false]) {
    const waiting = call(client, 'one__counter', {});
    const { id } = await eventually('it waits for a person', async () => (await proposals())[0]);
    await decide(id, { accept, note: 'not today' });
    const result = await waiting;
    expect([result.isError ?? false, textOf(result)]).toEqual([
      !accept,
      expect.stringContaining(accept ? '1[The person who approved this call says: not today]' : 'not today'),
    ]);
  }
});

verifies(
  'bridge.approval-keeps-waiting',
  async () => {
    const client = await clientOf({ tools: { approve: ['one__echo'] } });
    const heard: Record<string, number> = {};
    /** The client's own limit is shorter than the wait, and each sign of progress begins it anew. */
    const patient = (name: string, args: object) =>
      call(
        client,
        name,
        { ...args },
        {
          timeout: 7000,
          resetTimeoutOnProgress: true,
          onprogress: () => {
            heard[name] = (heard[name] ?? 0) + 1;
          },
        },
      );
    const calls = [
      patient('one__echo', { text: 'at last' }),
      patient('human_feedback', { question: 'Now?', options: ['yes', 'no'] }),
    ];
    await eventually(
      'both have heard it three times',
      () => Object.values(heard).filter((times) => times >= 3).length === 2,
      20_000,
    );
    for (const { id } of await proposals()) await decide(id, { accept: true, note: 'yes' });
    expect((await Promise.all(calls)).map(textOf)).toEqual([
      'at last[The person who approved this call says: yes]',
      'yes',
    ]);
  },
  40_000,
);
