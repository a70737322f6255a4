import { expect, test } from '@jest/globals';
import { listTools } from '@mcpbridge/orchestrator/providers/mcp/tools/lists.js';
import { isObject, type JsonObject, RpcFailure } from '@mcpbridge/shared/json-rpc.js';

const good = { name: 'good', inputSchema: { type: 'object' } };
const listOf = (...tools: unknown[]) => listTools(async () => ({ tools }));

test('a tool on which clients would choke is set aside with what is wrong, the others are kept as they are', async () => {
  const broken: [reason: string, tool: JsonObject][] = [
    ['its inputSchema is not an object', { inputSchema: undefined }],
    ['its inputSchema is of type "string"', { inputSchema: { type: 'string' } }],
    [
      'the properties of its inputSchema are not schemas',
      { inputSchema: { type: 'object', properties: { a: true } } },
    ],
    [
      'the properties of its inputSchema are not schemas',
      { inputSchema: { type: 'object', properties: [] } },
    ],
    [
      'the "required" of its inputSchema is not a list of names',
      { inputSchema: { type: 'object', required: 'a' } },
    ],
    ['its title is not text', { title: 1 }],
    ['its description is not text', { description: null }],
    ['its outputSchema is not an object', { outputSchema: 'none' }],
    ['its annotations is not an object', { annotations: [] }],
    ['its _meta is not an object', { _meta: 1 }],
    ['its icons is not an array', { icons: {} }],
  ];
  const tools = broken.map(([, fault], index) => ({ ...good, name: `bad-${index}`, ...fault }));
  const list = await listOf(good, ...tools, 'text', { ...good, name: '' });
  expect(list.tools).toEqual([good]);
  expect(list.rejected).toEqual([
    ...broken.map(([reason], index) => ({ name: `bad-${index}`, reason })),
    { name: '(no name)', reason: 'it is not an object' },
    { name: '(no name)', reason: 'it has no name' },
  ]);
});

test('unknown fields of a tool and of its schema stay', async () => {
  const odd = {
    ...good,
    'x-own': { deep: [1] },
    inputSchema: {
      type: 'object',
      $schema: 'http://json-schema.org/draft-07/schema#',
      'x-order': ['b', 'a'],
    },
    outputSchema: { anyOf: [] },
  };
  expect((await listOf(odd)).tools).toEqual([odd]);
});

test('a thousand pages are read, no more', async () => {
  let pages = 0;
  const list = await listTools(async (_method, params) => {
    pages += 1;
    const cursor = isObject(params) ? Number(params.cursor) : 0;
    return { tools: [{ ...good, name: `tool-${cursor}` }], nextCursor: String(cursor + 1) };
  });
  expect(pages).toBe(1000);
  expect(list.tools).toHaveLength(1000);
  expect(list.rejected).toEqual([{ name: 'tools/list', reason: 'there are more than 1000 pages' }]);
});

test('an answer that holds no list ends the reading, with the reason', async () => {
  const answers = [{ tools: [good], nextCursor: 'next' }, { nothing: true }];
  const list = await listTools(async () => answers.shift());
  expect(list.tools).toEqual([good]);
  expect(list.rejected).toEqual([{ name: 'tools/list', reason: 'an answer holds no tools' }]);
});

test('a later page that fails fails the list', async () => {
  const failing = listTools(async (_method, params) => {
    if (params) throw new RpcFailure(-32601, 'no method tools/list');
    return { tools: [good], nextCursor: 'next' };
  });
  await expect(failing).rejects.toThrow('no method tools/list');
});
