import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { verifies } from '../requirements.js';
import { bareServer, type RunningOrchestrator, startOrchestrator } from '../support/orchestrator.js';
import { ended, eventually, isAlive } from '../support/processes.js';
import { featuresServer, startBridge, textOf } from '../support/road.js';
import type { StdioPeer } from '../support/stdio-peer.js';
import { Trace } from '../support/trace.js';

let running: RunningOrchestrator;
let trace: Trace;
beforeAll(async () => {
  trace = await Trace.make();
  running = await startOrchestrator({
    servers: { bare: bareServer, features: featuresServer({ TRACE_FILE: trace.file }) },
  });
});
afterAll(() => running.stop());

describe('client, bridge, orchestrator, server', () => {
  verifies('bridge.nothing-crosses', async () => {
    const bridges = [startBridge(running), startBridge(running)];
    await Promise.all(bridges.map((bridge) => bridge.initialize()));
    const calls = bridges.map((bridge, which) => callMany(bridge, `bridge ${which}`));
    await Promise.all(calls);
    for (const [which, bridge] of bridges.entries()) {
      const progress = bridge.frames.filter((frame) => frame.method === 'notifications/progress');
      const tokens = new Set(progress.map((frame) => frame.params.progressToken));
      expect([...tokens].every((token) => String(token).startsWith(`bridge ${which}`))).toBe(true);
      bridge.close();
    }
  });

  verifies('mcp.questions', async () => {
    const [one, other] = [startBridge(running), startBridge(running)];
    await Promise.all([one, other].map((bridge) => bridge.initialize({ elicitation: {} })));
    const params = { message: 'Which?', requestedSchema: { type: 'object', properties: {} } };
    const call = one.callTool('features__ask', { method: 'elicitation/create', params });
    const question = await one.waitFor((frame) => frame.method === 'elicitation/create');
    expect(question.params).toEqual(params);
    one.send({ id: question.id, result: { action: 'accept', content: { which: 'this' } } });
    expect(JSON.parse(textOf(await call) ?? '')).toEqual({
      result: { action: 'accept', content: { which: 'this' } },
    });
    expect(other.frames.filter((frame) => frame.method !== undefined)).toEqual([]);
    for (const bridge of [one, other]) bridge.close();
  });

  verifies('bridge.end-cancels', async () => {
    const ends: ((bridge: StdioPeer) => void)[] = [
      (bridge) => bridge.close(),
      (bridge) => bridge.process.kill('SIGTERM'),
      (bridge) => bridge.process.kill('SIGINT'),
    ];
    for (const end of ends) {
      const [started, cancelled] = [trace.count('started hang '), trace.count('cancelled ')];
      const bridge = startBridge(running);
      await bridge.initialize();
      void bridge.callTool('features__hang');
      await trace.saw('started hang ', started + 1);
      end(bridge);
      expect((await ended(bridge.process)).code).toBe(0);
      await trace.saw('cancelled ', cancelled + 1);
    }
  });

  verifies('bridge.session-ends', async () => {
    const before = trace.pids.length;
    const bridge = startBridge(running);
    await bridge.initialize();
    const pid = Number(textOf(await bridge.callTool('features__pid')));
    expect(trace.pids.slice(before)).toContain(pid);
    bridge.process.kill('SIGKILL');
    await eventually('the process of the session is gone', () => !isAlive(pid));
  });

  test('the session of a bridge that is alive stays, also when nothing is called for longer than the grace time', async () => {
    const bridge = startBridge(running);
    await bridge.initialize();
    const pid = textOf(await bridge.callTool('features__pid'));
    await new Promise((next) => setTimeout(next, 4000));
    expect(textOf(await bridge.callTool('features__pid'))).toBe(pid);
    bridge.close();
  });

  verifies('bad.noise', async () => {
    const bridge = startBridge(running);
    await bridge.initialize();
    expect(textOf(await bridge.callTool('features__noise'))).toBe('after the noise');
    expect(bridge.noise).toEqual([]);
    bridge.close();
  });

  verifies('bad.large', async () => {
    const bridge = startBridge(running);
    await bridge.initialize();
    const bytes = 20 * 1024 * 1024;
    expect(textOf(await bridge.callTool('bare__big', { bytes }))?.length).toBe(bytes);
    expect(textOf(await bridge.callTool('bare__echo', { text: 'hello' }))).toBe('hello');
    bridge.close();
  });

  verifies(
    'bad.large-memory',
    async () => {
      const resident = (pid: number | undefined) => {
        const status = readFileSync(`/proc/${pid}/status`, 'utf8');
        return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
      };
      const bridge = startBridge(running);
      await bridge.initialize();
      const processes = [running.process, bridge.process];
      const twelve = 12 * 1024 * 1024;
      // When garbage is collected nobody sets, so only the lowest of some calls tells what is kept.
      const lowest = async (rounds: number) => {
        const lows = processes.map(() => Number.POSITIVE_INFINITY);
        for (let round = 0; round < rounds; round++) {
          expect(textOf(await bridge.callTool('bare__big', { bytes: twelve }))?.length).toBe(twelve);
          bridge.frames.length = 0;
          for (const [at, { pid }] of processes.entries()) lows[at] = Math.min(lows[at] ?? 0, resident(pid));
        }
        return lows;
      };
      await lowest(12);
      const before = await lowest(10);
      await lowest(14);
      const after = await lowest(10);
      // Kept results would be those of the twenty-four calls between, and twice as much in UTF-16.
      for (const [at, low] of after.entries()) expect(low - (before[at] ?? 0)).toBeLessThan(12 * 12);
      bridge.close();
    },
    120_000,
  );

  verifies('bad.split-characters', async () => {
    const bridge = startBridge(running);
    await bridge.initialize();
    expect(textOf(await bridge.callTool('features__emoji'))).toBe('a 🦊 b');
    const text = '🦊'.repeat(200_000);
    expect(textOf(await bridge.callTool('bare__echo', { text }))).toBe(text);
    const line = Buffer.from(
      `${JSON.stringify({ jsonrpc: '2.0', id: 'split', method: 'tools/call', params: { name: 'bare__echo', arguments: { text: '🦊' } } })}\n`,
    );
    const cut = line.indexOf(Buffer.from('🦊')) + 2;
    await new Promise<void>((written) => bridge.process.stdin?.write(line.subarray(0, cut), () => written()));
    bridge.process.stdin?.write(line.subarray(cut));
    expect(textOf(await bridge.answerTo('split'))).toBe('🦊');
    bridge.close();
  });

  verifies('bad.token', async () => {
    const bridge = startBridge(running, { MCP_API_TOKEN: 'wrong' });
    const { error } = await bridge.initialize();
    expect(error.message).toContain('MCP_API_TOKEN');
    expect(error.message).not.toContain('\n');
    bridge.close();
  });
});

/** Two hundred calls at once, each with its own text and progress token; every answer must be its own. */
async function callMany(bridge: StdioPeer, who: string): Promise<void> {
  const numbers = Array.from({ length: 200 }, (_, number) => number);
  await Promise.all(
    numbers.map(async (number) => {
      const progressToken = `${who} ${number}`;
      const echo = bridge.callTool('features__mirror', { text: progressToken });
      const steps = bridge.callTool('features__progress', { steps: 2 }, { progressToken });
      expect(JSON.parse(textOf(await echo) ?? '').arguments).toEqual({ text: progressToken });
      expect(textOf(await steps)).toBe('2 steps');
      const progress = bridge.frames.filter((frame) => frame.params?.progressToken === progressToken);
      expect(progress.map((frame) => frame.params.progress)).toEqual([1, 2]);
    }),
  );
}
