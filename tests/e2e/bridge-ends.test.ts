import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type RunningExecutor, startExecutor } from '../fixtures/executor.mjs';
import { type RunningEndpoint, startEndpoint } from '../fixtures/mcp-endpoint.mjs';
import { ended } from '../support/processes.js';
import { startBridge, toolList } from '../support/spawned-bridge.js';
import type { StdioPeer } from '../support/stdio-peer.js';
import { WAYS } from '../support/ways.js';

let executor: RunningExecutor;
let endpoint: RunningEndpoint;

afterEach(() => Promise.all([executor.stop(), endpoint.stop()]));

const ends: Record<string, (bridge: StdioPeer) => unknown> = {
  'the end of stdin': (bridge) => bridge.close(),
  'SIGTERM, stdin open': (bridge) => bridge.process.kill('SIGTERM'),
  'SIGINT, stdin open': (bridge) => bridge.process.kill('SIGINT'),
};

describe.each(WAYS)('%s', (_way, way) => {
  beforeEach(async () => {
    executor = await startExecutor(way());
    endpoint = await startEndpoint(way());
  });

  describe.each(Object.entries(ends))('%s', (_, end) => {
    test('ends an idle bridge', async () => {
      const bridge = startBridge({ MCP_API_URL: executor.url, MCP_TOOLS: toolList('echo') });
      await bridge.initialize();
      end(bridge);
      expect(await ended(bridge.process)).toEqual({ code: 0, signal: null });
    });

    test('in mid-call ends the bridge, and the executor sees the calls aborted', async () => {
      const bridge = startBridge({ MCP_API_URL: executor.url, MCP_TOOLS: toolList('never') });
      const received = once(executor.events, 'request');
      bridge.send({ id: 1, method: 'tools/call', params: { name: 'never', _meta: { progressToken: 1 } } });
      await received;
      const aborted = once(executor.events, 'aborted');
      end(bridge);
      expect(await ended(bridge.process)).toEqual({ code: 0, signal: null });
      await aborted;
    });

    test('in mid-call of a session ends the bridge, and the orchestrator sees call and stream closed', async () => {
      const bridge = startBridge({ MCP_API_URL: endpoint.url });
      const stream = endpoint.next('stream');
      await bridge.initialize();
      const closed = once(await stream, 'close');
      const received = endpoint.next('exchange', ({ message }) => message.method === 'tools/call');
      bridge.send({ id: 1, method: 'tools/call', params: { name: 'never' } });
      await received;
      const aborted = endpoint.next('aborted');
      end(bridge);
      expect(await ended(bridge.process)).toEqual({ code: 0, signal: null });
      expect((await aborted).message.params.name).toBe('never');
      await closed;
    });

    test('while the orchestrator is waited for ends the bridge', async () => {
      const bridge = startBridge({ MCP_API_URL: 'http://127.0.0.1:1' });
      bridge.send({ id: 1, method: 'server/discover' });
      while (bridge.stderr === '') await once(bridge.process.stderr ?? bridge.process, 'data');
      end(bridge);
      expect(await ended(bridge.process)).toEqual({ code: 0, signal: null });
    });
  });

  test('a client that does not read its answer is not waited for', async () => {
    const bridge = startBridge({ MCP_API_URL: executor.url, MCP_TOOLS: toolList('echo', 'big') });
    await bridge.initialize();
    bridge.process.stdout?.pause();
    bridge.send({ id: 1, method: 'tools/call', params: { name: 'big', arguments: { bytes: 120_000 } } });
    for (let more = 0; more < 40; more++) {
      const received = once(executor.events, 'request');
      bridge.send({
        id: more + 2,
        method: 'tools/call',
        params: { name: 'big', arguments: { bytes: 120_000 } },
      });
      await received;
    }
    bridge.close();
    expect(await ended(bridge.process)).toEqual({ code: 0, signal: null });
  });

  test('a client that closes its end of stdout ends the bridge', async () => {
    const bridge = startBridge({ MCP_API_URL: executor.url, MCP_TOOLS: toolList('echo') });
    await bridge.initialize();
    bridge.process.stdout?.destroy();
    bridge.send({ id: 1, method: 'ping' });
    expect(await ended(bridge.process)).toEqual({ code: 0, signal: null });
  });
});
