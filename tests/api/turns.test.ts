import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { verifies } from '../requirements.js';
import { api } from '../support/api.js';
import { type RunningOrchestrator, startOrchestrator } from '../support/orchestrator.js';
import { featuresServer } from '../support/road.js';
import { Trace } from '../support/trace.js';

let running: RunningOrchestrator;
let trace: Trace;
beforeAll(async () => {
  trace = await Trace.make();
  const turns = { 'h*ng': ['text'], echo: ['text'] };
  running = await startOrchestrator({
    servers: { one: featuresServer({ TRACE_FILE: trace.file }, { turns }) },
  });
});
afterAll(() => running.stop());

const call = async (session: string, tool: string, args: object, signal?: AbortSignal) => {
  const response = await fetch(`${running.url}/api/tools/mcp/one/${tool}`, {
    method: 'POST',
    headers: { ...running.headers(session), 'content-type': 'application/json' },
    body: JSON.stringify(args),
    ...(signal ? { signal } : {}),
  });
  return (await response.json()) as { success?: boolean; result?: string; error?: object };
};

/** Works on a thing until it is told to stop. */
async function working(thing: string): Promise<() => Promise<void>> {
  const begun = trace.count('started hang');
  const stop = new AbortController();
  const over = call('a', 'hang', { text: thing }, stop.signal).catch(() => undefined);
  await trace.saw('started hang', begun + 1);
  return async () => {
    stop.abort();
    await over;
  };
}

verifies('call.turns', async () => {
  const stop = await working('file');
  const order: string[] = [];
  const waiting = ['first', 'second'].map(async (who) => {
    const { result } = await call(who, 'echo', { text: 'file' });
    order.push(who);
    return result;
  });
  expect((await call('b', 'echo', { text: 'another file' })).result).toBe('another file');
  expect((await call('b', 'echo', {})).success).toBe(true);
  expect(order).toEqual([]);
  await stop();
  expect(await Promise.all(waiting)).toEqual(['file', 'file']);
  expect(order.sort()).toEqual(['first', 'second']);
});

test('a call whose time passes before its turn says so, and leaves the line', async () => {
  const stop = await working('busy');
  const { body: hasty } = await api(running)
    .post('/api/sessions')
    .send({ limits: { timeoutMs: 100 } });
  const late = await call(hasty.id, 'echo', { text: 'busy' });
  expect(late.error).toMatchObject({
    code: 'CALL_TIMEOUT',
    message: '"one__echo" was not begun: other calls on the same thing took all of its time.',
  });
  const next = call('b', 'echo', { text: 'busy' });
  await stop();
  expect((await next).result).toBe('busy');
});
