import { EventEmitter, once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { createAgentSession } from '@mcpbridge/agent-session';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { z } from 'zod';
import { verifies } from '../requirements.js';
import { callText, connect, connectTo, openSession } from '../support/agent-sessions.js';

const numbers = {
  type: 'object',
  properties: { a: { type: 'number' }, b: { type: 'number' } },
  required: ['a', 'b'],
};
const add = {
  name: 'add',
  description: 'Adds',
  inputSchema: numbers,
  handler: ({ a, b }: { a: number; b: number }) => ({ sum: a + b }),
};

/** A tool whose handler says when it has begun, and waits for its signal. */
function waiting() {
  const events = new EventEmitter();
  const begun = once(events, 'begun').then(([signal]) => signal as AbortSignal);
  const tool = {
    name: 'wait',
    description: 'Waits',
    handler(_: unknown, { signal }: { signal: AbortSignal }) {
      events.emit('begun', signal);
      return once(signal, 'abort');
    },
  };
  return { tool, begun };
}

verifies('lean.functions', async () => {
  const session = await openSession({ tools: [add], instructions: 'Sums cost $5 {each}.' });
  const entry = session.bridgeConfig();
  const legacy = new Client({ name: 'test', version: '1.0.0' });
  await legacy.connect(new StdioClientTransport(entry));
  for (const client of [legacy, await connect(entry)]) {
    expect((await client.listTools()).tools).toEqual([
      { name: 'add', description: 'Adds', inputSchema: numbers },
    ]);
    expect(client.getInstructions()).toBe('Sums cost $5 {each}.');
    expect(await client.callTool({ name: 'add', arguments: { a: 2, b: 3 } })).toMatchObject({
      content: [{ type: 'text', text: '{"sum":5}' }],
      structuredContent: { sum: 5 },
    });
  }
  await legacy.close();
});

verifies('lean.every-tool', async () => {
  const tools = Array.from({ length: 40 }, (_, index) => ({
    name: `tool_${index}`,
    description: `The one of number ${index}`,
    handler: () => `answer ${index}`,
  }));
  const client = await connectTo(await openSession({ tools }));
  const listed = (await client.listTools()).tools.map(({ name }) => name);
  expect(listed).toEqual(tools.map(({ name }) => name));
  const answers = await Promise.all(listed.map((name) => callText(client, name)));
  expect(answers.map(({ text }) => text)).toEqual(tools.map((_, index) => `answer ${index}`));
});

verifies('lean.same-name', async () => {
  const greeting = (word: string) => ({
    tools: [
      {
        name: 'greet',
        description: 'Greets',
        handler: (_: unknown, { sessionId }: { sessionId: string }) => `${word} from ${sessionId}`,
      },
    ],
  });
  const sessions = [
    await openSession({ ...greeting('hello'), sessionId: 'one' }),
    await openSession({ ...greeting('salut'), sessionId: 'two' }),
  ];
  const [one, two] = sessions.map((session) => session.bridgeConfig().env);
  // One executor for both, and nothing else in common.
  expect(one?.MCP_API_URL).toBe(two?.MCP_API_URL);
  expect(one?.MCP_API_TOKEN_FILE).not.toBe(two?.MCP_API_TOKEN_FILE);
  const clients = await Promise.all(sessions.map(connectTo));
  const answers = await Promise.all(clients.map((client) => callText(client, 'greet')));
  expect(answers.map(({ text }) => text)).toEqual(['hello from one', 'salut from two']);
});

describe('an answer', () => {
  test.each([
    ['a text', 'ok', 'ok', undefined],
    [
      'an object',
      { at: new Date(0) },
      '{"at":"1970-01-01T00:00:00.000Z"}',
      { at: '1970-01-01T00:00:00.000Z' },
    ],
    ['a list', [1, { a: 2 }], '[1,{"a":2}]', undefined],
    ['a number', 7, '7', undefined],
    ['nothing', undefined, 'The tool ran and gave no output.', undefined],
    ['an object that only looks like a result', { content: ['a'] }, '{"content":["a"]}', { content: ['a'] }],
  ])('that is %s reaches the model as text', async (_, answer, text, structuredContent) => {
    const session = await openSession({
      tools: [{ name: 'say', description: 'Says', handler: () => answer }],
    });
    const result = await (await connectTo(session)).callTool({ name: 'say', arguments: {} });
    expect(result.content).toEqual([{ type: 'text', text }]);
    expect(result.structuredContent).toEqual(structuredContent);
  });

  test('that is a whole MCP result passes as it is', async () => {
    const image = {
      content: [{ type: 'image', data: 'aGk=', mimeType: 'image/png' }],
      _meta: { seen: true },
    };
    const session = await openSession({
      tools: [{ name: 'draw', description: 'Draws', handler: async () => image }],
    });
    const result = await (await connectTo(session)).callTool({ name: 'draw', arguments: {} });
    expect(result).toMatchObject(image);
  });
});

describe('a fault', () => {
  test('that a handler throws, or JSON cannot say, is told to the model, and the next call works', async () => {
    const circle: Record<string, unknown> = {};
    circle.self = circle;
    const session = await openSession({
      tools: [
        add,
        {
          name: 'fail',
          description: 'Fails',
          handler() {
            throw new Error('the disk is full');
          },
        },
        { name: 'reject', description: 'Rejects', handler: () => Promise.reject('no reason') },
        { name: 'circle', description: 'Circles', handler: () => circle },
      ],
    });
    const client = await connectTo(session);
    const failed = await callText(client, 'fail');
    expect(failed).toEqual({ failed: true, text: 'the disk is full\n[code: TOOL_FAILED, layer: tool]' });
    expect(await callText(client, 'reject')).toMatchObject({
      failed: true,
      text: expect.stringMatching(/no reason/),
    });
    expect(await callText(client, 'circle')).toMatchObject({
      failed: true,
      text: expect.stringMatching(/circular/),
    });
    expect(await callText(client, 'add', { a: 1, b: 1 })).toEqual({ failed: false, text: '{"sum":2}' });
  });

  test('of the arguments is told by path, and the handler never sees them', async () => {
    let calls = 0;
    const session = await openSession({ tools: [{ ...add, handler: () => ++calls }] });
    const { failed, text } = await callText(await connectTo(session), 'add', { a: 'x' });
    expect(failed).toBe(true);
    expect(text).toMatch(
      /"add": .*required property 'b'.*\/a: must be number, got string.*INVALID_ARGUMENTS/s,
    );
    expect(calls).toBe(0);
  });
});

test('a null for what may be left out is left out', async () => {
  const inputSchema = {
    type: 'object',
    properties: { a: { type: 'string' }, b: { type: 'string' } },
    required: ['a'],
  };
  const tool = { name: 'show', description: 'Shows', inputSchema, handler: (args: object) => args };
  const client = await connectTo(await openSession({ tools: [tool] }));
  expect((await callText(client, 'show', { a: 'x', b: null })).text).toBe('{"a":"x"}');
  expect((await callText(client, 'show', { a: null, b: 'x' })).text).toMatch(/\/a: must be string, got null/);
});

describe('a Standard Schema', () => {
  const order = z.object({
    // Transformed: the handler gets what comes out, the model is told what goes in.
    amount: z.string().transform(Number),
    note: z.string().default('none').describe('For the kitchen'),
  });
  const tool = {
    name: 'order',
    description: 'Orders',
    inputSchema: order,
    handler: ({ amount, note }: { amount: number; note: string }) => `${amount + 1} ${note}`,
  };

  test('is listed as JSON Schema, and its output is what the handler gets', async () => {
    const client = await connectTo(await openSession({ tools: [tool] }));
    const { inputSchema } = (await client.listTools()).tools[0] ?? {};
    expect(inputSchema).toMatchObject({
      type: 'object',
      properties: { amount: { type: 'string' }, note: { description: 'For the kitchen' } },
      required: ['amount'],
    });
    expect(await callText(client, 'order', { amount: '41' })).toEqual({ failed: false, text: '42 none' });
  });

  test('types the arguments of its handler, each tool by its own', async () => {
    const session = await openSession({
      tools: [
        { name: 'a', description: '', inputSchema: order, handler: ({ amount }) => amount.toFixed(1) },
        {
          name: 'b',
          description: '',
          inputSchema: z.object({ word: z.string() }),
          handler: ({ word }) => word.trim(),
        },
        { name: 'c', description: '', inputSchema: numbers, handler: (args) => Object.keys(args).length },
      ],
    });
    const client = await connectTo(session);
    expect((await callText(client, 'a', { amount: '1' })).text).toBe('1.0');
    expect((await callText(client, 'b', { word: ' x ' })).text).toBe('x');
    expect((await callText(client, 'c', { a: 1, b: 2 })).text).toBe('2');
  });

  test('tells its own faults by path', async () => {
    const client = await connectTo(await openSession({ tools: [tool] }));
    const { failed, text } = await callText(client, 'order', { amount: 5 });
    expect(failed).toBe(true);
    expect(text).toMatch(/"order": \/amount: .*expected string.*INVALID_ARGUMENTS/s);
  });

  test('that cannot say itself as JSON Schema is refused with what to give instead', async () => {
    const mute = {
      '~standard': { version: 1, vendor: 'mute', validate: (value: unknown) => ({ value }) },
    } as const;
    const refused = createAgentSession({ tools: [{ ...add, inputSchema: mute, handler: () => 1 }] });
    await expect(refused).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringMatching(/"add" of "mute".*JSON Schema/),
    });
  });
});

describe('the list', () => {
  const tricky = {
    name: 'find',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: what clients would expand
    description: 'costs $5, or ${HOME}, {env:HOME}',
    inputSchema: {
      type: 'object',
      $defs: { a: { type: 'string' } },
      properties: { a: { $ref: '#/$defs/a' } },
    },
    handler: () => 'found',
  };

  test('has nothing in it that a client would expand, and arrives whole', async () => {
    const session = await openSession({ tools: [tricky] });
    const { MCP_TOOLS = '' } = session.bridgeConfig().env;
    expect(MCP_TOOLS).not.toContain('$');
    expect(MCP_TOOLS).not.toMatch(/\{[^"}]/);
    const { tools } = await (await connectTo(session)).listTools();
    expect(tools).toMatchObject([{ description: tricky.description, inputSchema: tricky.inputSchema }]);
  });

  test('that is near 128 KiB goes by a file of this user alone, and arrives whole', async () => {
    const tools = Array.from({ length: 300 }, (_, index) => ({
      ...tricky,
      name: `find_${index}`,
      description: 'é$'.repeat(200),
    }));
    const session = await openSession({ tools });
    const { MCP_TOOLS, MCP_TOOLS_FILE = '' } = session.bridgeConfig().env;
    expect(MCP_TOOLS).toBeUndefined();
    expect((await stat(MCP_TOOLS_FILE)).mode & 0o777).toBe(0o600);
    const client = await connectTo(session);
    expect((await client.listTools()).tools).toHaveLength(300);
    expect(await callText(client, 'find_299')).toEqual({ failed: false, text: 'found' });
  });

  test('carries what tools have besides', async () => {
    const more = { title: 'Add', annotations: { readOnlyHint: true } };
    const client = await connectTo(await openSession({ tools: [{ ...add, ...more }] }));
    expect((await client.listTools()).tools).toMatchObject([more]);
  });
});

describe('the end', () => {
  test('of a call at the client aborts its handler', async () => {
    const { tool, begun } = waiting();
    const client = await connectTo(await openSession({ tools: [tool] }));
    const cancel = new AbortController();
    const call = client.callTool({ name: 'wait', arguments: {} }, { signal: cancel.signal });
    const signal = await begun;
    cancel.abort();
    await expect(call).rejects.toThrow();
    if (!signal.aborted) await once(signal, 'abort');
  });

  test('of a client in mid-call aborts its handler', async () => {
    const { tool, begun } = waiting();
    const client = await connectTo(await openSession({ tools: [tool] }));
    const call = client.callTool({ name: 'wait', arguments: {} }).catch((error) => error);
    const signal = await begun;
    await client.close();
    if (!signal.aborted) await once(signal, 'abort');
    await call;
  });

  test('of a session aborts its calls, takes away its files and leaves the others', async () => {
    const { tool, begun } = waiting();
    const other = await openSession({ tools: [add] });
    const session = await openSession({ tools: [tool] });
    const file = session.bridgeConfig().env.MCP_API_TOKEN_FILE ?? '';
    const client = await connectTo(session);
    const call = callText(client, 'wait');
    const signal = await begun;
    await session.close();
    expect(signal.aborted).toBe(true);
    expect(await call).toMatchObject({
      failed: true,
      text: expect.stringMatching(/was closed.*CALL_CANCELLED/s),
    });
    expect(existsSync(dirname(file))).toBe(false);
    expect(await callText(client, 'wait')).toMatchObject({
      failed: true,
      text: expect.stringMatching(/401/),
    });
    expect(() => session.bridgeConfig()).toThrow('was closed');
    expect(await callText(await connectTo(other), 'add', { a: 1, b: 2 })).toMatchObject({ failed: false });
  });

  test('of the last session closes the executor, also in mid-call of a handler that heeds nothing', async () => {
    const { tool, begun } = waiting();
    const deaf = {
      ...tool,
      handler(...given: Parameters<typeof tool.handler>) {
        tool.handler(...given);
        return new Promise(() => {});
      },
    };
    const session = await openSession({ tools: [deaf] });
    const client = await connectTo(session);
    const call = callText(client, 'wait');
    await begun;
    const { MCP_API_URL = '' } = session.bridgeConfig().env;
    await session.close();
    expect(await call).toMatchObject({ failed: true });
    await expect(fetch(MCP_API_URL)).rejects.toThrow();
    const next = await openSession({ tools: [add] });
    expect(await callText(await connectTo(next), 'add', { a: 1, b: 2 })).toMatchObject({ failed: false });
  });
});

test('the token is in no variable, and its file can be read by this user alone', async () => {
  const session = await openSession({ tools: [add] });
  const { env, ...rest } = session.bridgeConfig();
  const file = env.MCP_API_TOKEN_FILE ?? '';
  const token = await readFile(file, 'utf8');
  expect(token).toMatch(/^[\w-]{43}$/);
  expect(JSON.stringify({ env, rest })).not.toContain(token);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect((await stat(dirname(file))).mode & 0o777).toBe(0o700);
});

describe('a session that cannot be is refused', () => {
  const handler = () => 1;
  test.each([
    ['for two tools of one name', { tools: [add, add] }, /Two tools are named "add"/],
    ['for a name that clients would change', { tools: [{ ...add, name: 'a.b' }] }, /"a\.b"/],
    ['for a name that is too long', { tools: [{ ...add, name: 'a'.repeat(47) }] }, /1 to 46/],
    [
      'for a tool without a handler',
      { tools: [{ ...add, handler: undefined as never }] },
      /"add" has no handler/,
    ],
    [
      'for a schema that is none',
      { tools: [{ name: 'a', description: '', inputSchema: { type: 'object', required: 'a' }, handler }] },
      /"a" is not a JSON Schema/,
    ],
    [
      'for a schema of something else than an object',
      { tools: [{ name: 'a', description: '', inputSchema: { type: 'string' }, handler }] },
      /"type": "object"/,
    ],
    ['for an id that no header carries', { tools: [add], sessionId: 'a b' }, /sessionId "a b"/],
    [
      'for additions without an orchestrator',
      { tools: [add], additionalBridgeTools: ['read_image'] },
      /additionalBridgeTools.*orchestrator/,
    ],
  ])('%s', async (_, options, message) => {
    await expect(createAgentSession(options)).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringMatching(message),
    });
  });

  test('for an id that is open already', async () => {
    await openSession({ tools: [add], sessionId: 'mine' });
    const again = createAgentSession({ tools: [add], sessionId: 'mine' });
    await expect(again).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringMatching(/"mine" is open already/),
    });
  });
});
