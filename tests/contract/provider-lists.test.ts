import { afterEach, describe, expect, test } from '@jest/globals';
import { eventually } from '../support/processes.js';
import { TestCaller, textOf, Upstreams } from '../support/upstreams.js';

const upstreams = new Upstreams();
afterEach(() => upstreams.close());

const names = (list: { tools: readonly { name: string }[] } | undefined) =>
  list?.tools.map((tool) => tool.name) ?? [];

describe('listing', () => {
  test('every page is read', async () => {
    const whole = await upstreams.features().refresh();
    const paged = await upstreams.features({ PAGE_SIZE: '5' }).refresh();
    expect(whole.tools.length).toBeGreaterThan(20);
    expect(paged).toEqual(whole);
  });

  test('pages that go in a circle end, with the reason', async () => {
    const { tools, rejected } = await upstreams.features({ PAGE_SIZE: '5', CURSOR_LOOP: '1' }).refresh();
    expect(tools).toHaveLength(5);
    expect(rejected.at(-1)).toEqual({ name: 'tools/list', reason: 'the cursor "0" came twice' });
  });

  test('a broken tool is set aside with its reason, its neighbours stay', async () => {
    const { tools, rejected } = await upstreams.features().refresh();
    expect(rejected).toEqual([
      { name: 'broken', reason: 'its inputSchema is not an object' },
      { name: 'echo', reason: 'the name is listed twice' },
      { name: '(no name)', reason: 'it has no name' },
    ]);
    expect(names({ tools })).toEqual(expect.arrayContaining(['echo', 'header', 'untyped']));
  });

  test('a schema without a type gets the one that the protocol knows', async () => {
    const { tools } = await upstreams.features().refresh();
    const untyped = tools.find((tool) => tool.name === 'untyped');
    expect(untyped?.inputSchema).toEqual({ type: 'object', properties: { a: {} } });
  });

  test('a server that declares tools and knows no tools/list has none', async () => {
    const provider = upstreams.features({ LIST_ERROR: '-32601' });
    expect(await provider.refresh()).toEqual({ tools: [], rejected: [] });
    expect(provider.health).toEqual({ state: 'ready' });
  });

  test('a server that fails to list says why, and is tried again at the next refresh', async () => {
    const provider = upstreams.features({ LIST_ERROR: '-32000' });
    await expect(provider.refresh()).rejects.toMatchObject({
      code: 'PROVIDER_UNAVAILABLE',
      message: 'Server "features" did not list its tools: no list today',
    });
    expect(provider.health).toEqual({
      state: 'failed',
      reason: 'Server "features" did not list its tools: no list today',
      retryAt: expect.any(Number),
    });
    expect(provider.listed).toBeUndefined();
  });

  test('what the server said of itself is kept whole', async () => {
    const provider = upstreams.features({ VERSION: '2024-11-05' });
    expect(provider.about).toBeUndefined();
    await provider.refresh();
    expect(provider.about).toMatchObject({
      era: 'legacy',
      version: '2024-11-05',
      capabilities: { tools: { listChanged: true } },
      serverInfo: { name: 'features', 'x-own': 'kept' },
      instructions: 'Use with care.',
      raw: { protocolVersion: '2024-11-05' },
    });
    expect(await provider.opened(new TestCaller('a'))).toEqual(provider.about);
  });
});

describe('changed lists', () => {
  test('tools that a shared server adds are listed before anybody hears of it', async () => {
    const provider = upstreams.features({}, { isolation: 'shared' });
    await provider.refresh();
    const heard: string[][] = [];
    const changed = new Promise((resolve) => {
      provider.onListChanged((sessionId) => {
        expect(sessionId).toBeUndefined();
        heard.push(names(provider.listed));
        resolve(undefined);
      });
    });
    await textOf(provider, new TestCaller('a'), 'add_tool', { name: 'newcomer' });
    await changed;
    expect(heard.flat()).toContain('newcomer');
  });

  test('tools that a server adds for one session are in the list of that session alone', async () => {
    const provider = upstreams.features();
    await provider.refresh();
    const [a, b] = [new TestCaller('a'), new TestCaller('b')];
    await textOf(provider, b, 'echo');
    const changed = new Promise((resolve) => provider.onListChanged(resolve));
    await textOf(provider, a, 'add_tool', { name: 'newcomer' });
    expect(await changed).toBe('a');
    expect(names(provider.listedFor('a'))).toContain('newcomer');
    expect(names(provider.listedFor('b'))).not.toContain('newcomer');
    expect(names(provider.listed)).not.toContain('newcomer');
    expect(await textOf(provider, a, 'newcomer')).toBe('I am newcomer');
    expect(a.told.map(({ method }) => method)).toEqual(['notifications/tools/list_changed']);
    expect(b.told).toEqual([]);
    await provider.endSession('a');
    expect(provider.listedFor('a')).toBe(provider.listed);
  });

  test('a flood of news is read twice at most', async () => {
    const provider = upstreams.features();
    const a = new TestCaller('a');
    await textOf(provider, a, 'add_tool', { name: 'before' });
    await eventually('the session was told', () => a.told.length === 1);
    await textOf(provider, a, 'flood', { count: 1000 });
    await textOf(provider, a, 'add_tool', { name: 'after' });
    await eventually('the last news arrived', () => names(provider.listedFor('a')).includes('after'));
    expect(a.told.length).toBeLessThanOrEqual(4);
  });

  test('a listener that was taken off hears nothing more', async () => {
    const provider = upstreams.features({}, { isolation: 'shared' });
    await provider.refresh();
    let heard = 0;
    const off = provider.onListChanged(() => {
      heard += 1;
    });
    off();
    const changed = new Promise((resolve) => provider.onListChanged(resolve));
    await textOf(provider, new TestCaller('a'), 'add_tool', { name: 'newcomer' });
    await changed;
    expect(heard).toBe(0);
  });
});
