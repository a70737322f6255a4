import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ToolProvider } from '@mcpbridge/orchestrator/providers/provider.js';
import { AppError } from '@mcpbridge/shared/errors.js';
import type { JsonObject } from '@mcpbridge/shared/json-rpc.js';
import { callTool, TestCaller, textOf } from '../support/upstreams.js';

export interface StartedProvider {
  provider: ToolProvider;
  stop(): Promise<void>;
}

/**
 * What every provider promises. `start` gives one with the tools echo, fail, odd, progress, slow, hang and ask as
 * tests/fixtures/features.mjs has them.
 */
export function describeProvider(name: string, start: () => Promise<StartedProvider>): void {
  describe(`provider contract: ${name}`, () => {
    let started: StartedProvider;
    let provider: ToolProvider;
    const caller = new TestCaller('contract');

    beforeAll(async () => {
      started = await start();
      provider = started.provider;
      await provider.refresh();
    });
    afterAll(() => started.stop());

    test('is ready once it has listed its tools', async () => {
      expect(provider.health).toEqual({ state: 'ready' });
      expect(await provider.refresh()).toEqual(provider.listed);
    });

    test('lists tools with everything that their definitions hold', () => {
      const odd = provider.listed?.tools.find((tool) => tool.name === 'odd');
      expect(odd).toMatchObject({
        'x-vendor': { kept: true },
        _meta: { 'ex.org/a': 1 },
        icons: [{ src: 'data:,x' }],
      });
      const echo = provider.listed?.tools.find((tool) => tool.name === 'echo');
      expect(echo).toMatchObject({
        annotations: { readOnlyHint: true, 'x-own': 1 },
        inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
      });
    });

    test('a result arrives whole, with fields and content kinds that nobody knows', async () => {
      expect(await callTool(provider, caller, 'odd')).toEqual({
        content: [
          { type: 'hologram', density: 3, annotations: { audience: ['user'] } },
          { type: 'text', text: 'odd', 'x-own': [1, 2] },
        ],
        structuredContent: ['not', 'an', 'object'],
        'x-result': { kept: true },
        _meta: { 'ex.org/trace': 'abc' },
      });
    });

    test("a tool's own failure is a result", async () => {
      const result = await callTool(provider, caller, 'fail', { args: { text: 'no luck' } });
      expect(result).toMatchObject({ isError: true, content: [{ type: 'text', text: 'no luck' }] });
    });

    test('a tool that does not exist rejects with its name', async () => {
      await expect(callTool(provider, caller, 'nope')).rejects.toThrow(/nope/);
    });

    // Before another session comes: where all share a server, its questions may be of any of them.
    test('a question goes to the call that caused it, and its answer back to the tool', async () => {
      const asked: unknown[] = [];
      const result = await callTool(provider, caller, 'ask', {
        args: { method: 'elicitation/create', params: { message: 'Sure?' } },
        listener: {
          async ask(method, params) {
            asked.push([method, params]);
            return { action: 'accept', content: { sure: true } };
          },
        },
      });
      expect(asked).toEqual([['elicitation/create', { message: 'Sure?' }]]);
      expect(JSON.stringify(result.content)).toContain('sure');
    });

    test('calls in flight at once, of two sessions, each get their own answer', async () => {
      const callers = [new TestCaller('one'), new TestCaller('two')];
      const texts = Array.from({ length: 60 }, (_, index) => `text ${index} ünï 🦊`);
      const answers = await Promise.all(
        texts.map((text, index) => textOf(provider, callers[index % 2] ?? caller, 'echo', { text })),
      );
      expect(answers).toEqual(texts);
    });

    test('progress is heard by the listener of its call alone', async () => {
      const heard: Record<string, JsonObject[]> = { a: [], b: [] };
      const run = (key: string, steps: number) =>
        callTool(provider, caller, 'progress', {
          args: { steps },
          listener: { progress: (params) => heard[key]?.push(params) },
        });
      await Promise.all([
        run('a', 2),
        run('b', 3),
        callTool(provider, caller, 'progress', { args: { steps: 4 } }),
      ]);
      const step = (progress: number, total: number) => ({ progress, total, message: `step ${progress}` });
      expect(heard.a).toEqual([step(1, 2), step(2, 2)]);
      expect(heard.b).toEqual([step(1, 3), step(2, 3), step(3, 3)]);
    });

    test('a call whose caller goes away rejects with CALL_CANCELLED, without waiting for the tool', async () => {
      const controller = new AbortController();
      const call = callTool(provider, caller, 'hang', { signal: controller.signal });
      controller.abort();
      await expect(call).rejects.toMatchObject({ code: 'CALL_CANCELLED' });
    });

    test('a call that is ended by its deadline rejects with what the deadline says', async () => {
      const controller = new AbortController();
      const call = callTool(provider, caller, 'hang', { signal: controller.signal });
      controller.abort(new AppError('CALL_TIMEOUT', 'It took more than a second.'));
      await expect(call).rejects.toMatchObject({ code: 'CALL_TIMEOUT' });
    });

    test('an ended session can begin anew', async () => {
      const session = new TestCaller('ends');
      expect(await textOf(provider, session, 'echo', { text: 'before' })).toBe('before');
      await provider.endSession('ends');
      expect(await textOf(provider, session, 'echo', { text: 'after' })).toBe('after');
    });
  });
}
