import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { afterEach, describe, expect, test } from '@jest/globals';
import { type AgentEvent, type AgentSession, createAgentSession } from '@mcpbridge/agent-session';
import { eventually, fixture, isAlive, startNode } from '../support/processes.js';
import { bridgesTo } from './support/bridges.js';
import { type Household, LAUNCHED, settleIn } from './support/launched.js';

let household: Household;
let session: AgentSession;
afterEach(async () => {
  await session?.close();
  await household?.leave();
});

const numbers = {
  type: 'object',
  properties: { a: { type: 'number' }, b: { type: 'number' } },
  required: ['a', 'b'],
};

/** What matters of a run's events, whatever the CLI says between. */
const gist = (events: AgentEvent[]) =>
  events.flatMap((event): unknown[] => {
    if (event.type === 'tool_call' && event.tool === 'add') return [{ call: event.args }];
    if (event.type === 'tool_result' && event.text.includes('sum')) return [{ result: event.text }];
    if (event.type === 'text' || event.type === 'final') return [{ [event.type]: event.text }];
    return [];
  });

describe.each(LAUNCHED)('$name, launched,', (client) => {
  test('calls a function of this process, tells its events in one form, and starts no other server', async () => {
    household = await settleIn(client, [
      [{ say: 'I will add.' }, { ...client.nameOf('add'), input: { a: 2, b: 3 } }],
      [{ say: 'It is five.' }],
    ]);
    const { home, env, trace } = household;
    const add = {
      name: 'add',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: what clients would expand
      description: 'Adds, for $5 or ${HOME} or {env:HOME}',
      inputSchema: numbers,
      handler: ({ a, b }: { a: number; b: number }) => ({ sum: a + b }),
    };
    session = await createAgentSession({ tools: [add], instructions: 'Add only.' });
    const run = session.launch(client.name, { prompt: 'Add 2 and 3 "please".', cwd: home, env });
    const events: AgentEvent[] = [];
    for await (const event of run) events.push(event);
    expect(gist(events)).toEqual([
      { text: 'I will add.' },
      { call: { a: 2, b: 3 } },
      { result: '{"sum":5}' },
      { text: 'It is five.' },
      { final: 'It is five.' },
    ]);
    expect(await run.result).toEqual({ text: 'It is five.' });
    expect(household.turnsLeft()).toBe(0);
    expect(existsSync(trace)).toBe(false);
  });

  test('is gone with its bridge when it is closed in mid-call, and the handler is told', async () => {
    household = await settleIn(client, [
      [{ ...client.nameOf('wait'), input: {} }],
      [{ say: 'This is never asked for.' }],
    ]);
    const { home, env } = household;
    let told: AbortSignal | undefined;
    const wait = {
      name: 'wait',
      description: 'Waits',
      handler(_: unknown, { signal }: { signal: AbortSignal }) {
        told = signal;
        return new Promise(() => {});
      },
    };
    session = await createAgentSession({ tools: [wait] });
    const url = session.bridgeConfig().env.MCP_API_URL ?? '';
    const stop = new AbortController();
    const run = session.launch(client.name, { prompt: 'Wait.', cwd: home, env, signal: stop.signal });
    const signal = await eventually('the handler was called', () => told, 60_000);
    expect(await bridgesTo(url)).toHaveLength(1);
    stop.abort();
    await expect(run.result).rejects.toMatchObject({
      code: 'CLIENT_FAILED',
      message: expect.stringContaining(`${client.name} was closed`),
    });
    expect(await bridgesTo(url)).toEqual([]);
    await eventually('the handler was told', () => signal.aborted);
  });
});

test('an app that is killed leaves no CLI and no bridge', async () => {
  const claude = LAUNCHED[0] as (typeof LAUNCHED)[number];
  household = await settleIn(claude, [[{ ...claude.nameOf('wait'), input: {} }]]);
  const { home, env } = household;
  const app = startNode(fixture('waiting-app.mjs'), [claude.name], env, home);
  const lines = createInterface({ input: app.stdout as Readable })[Symbol.asyncIterator]();
  const { value: url } = await lines.next();
  expect((await lines.next()).value).toBe('called');
  const [bridge = Number.NaN] = await bridgesTo(url);
  const client = await parentOf(bridge);
  app.kill('SIGKILL');
  await eventually('both are gone', () => !isAlive(bridge) && !isAlive(client));
});

/** Only Linux can say. */
async function parentOf(id: number): Promise<number> {
  const stat = await readFile(`/proc/${id}/stat`, 'utf8');
  return Number(stat.slice(stat.lastIndexOf(')')).split(' ')[2]);
}

test('a CLI that is not there is named', async () => {
  session = await createAgentSession({ tools: [] });
  const run = session.launch('claude', { prompt: 'Hi', env: { PATH: '/nonexistent' } });
  await expect(run.result).rejects.toMatchObject({
    code: 'CLIENT_FAILED',
    message: expect.stringMatching(/^claude could not be started .*PATH/),
  });
});
