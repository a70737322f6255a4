import { expect, test } from '@jest/globals';
import { verifies } from '../requirements.js';
import { startOrchestrator } from '../support/orchestrator.js';
import { bridgeFile, ended, isAlive } from '../support/processes.js';
import { featuresServer, startBridge, textOf } from '../support/road.js';
import { StdioPeer } from '../support/stdio-peer.js';
import { Trace } from '../support/trace.js';

verifies('bridge.restart', async () => {
  const first = await startOrchestrator();
  const bridge = startBridge(first);
  await bridge.initialize();
  expect(textOf(await bridge.callTool('bare__echo', { text: 'before' }))).toBe('before');
  await first.stop(true);
  const call = bridge.callTool('bare__echo', { text: 'after' });
  const second = await startOrchestrator({ again: first });
  expect(textOf(await call)).toBe('after');
  second.process.kill('SIGKILL');
  await ended(second.process);
  const third = await startOrchestrator({ again: first });
  expect(textOf(await bridge.callTool('bare__echo', { text: 'once more' }))).toBe('once more');
  bridge.close();
  await third.stop();
});

test('an orchestrator that is killed leaves no process of a server behind', async () => {
  const trace = await Trace.make();
  const running = await startOrchestrator({
    servers: { features: featuresServer({ TRACE_FILE: trace.file, IGNORE_STDIN_END: '1' }) },
  });
  const bridge = startBridge(running);
  await bridge.initialize();
  await bridge.callTool('features__pid');
  expect(trace.pids).toHaveLength(2);
  running.process.kill('SIGKILL');
  await ended(running.process);
  for (const pid of trace.pids) while (isAlive(pid)) await new Promise((next) => setTimeout(next, 20));
  bridge.close();
});

test('an orchestrator that is told to end lets a running call finish and takes no new ones', async () => {
  const running = await startOrchestrator();
  const bridge = startBridge(running);
  await bridge.initialize();
  const slow = bridge.callTool('bare__slow', { ms: 700 });
  await bridge.callTool('bare__echo', { text: 'it has begun' });
  running.process.kill('SIGTERM');
  expect(textOf(await slow)).toBe('slept');
  expect(await ended(running.process)).toEqual({ code: 0, signal: null });
  bridge.close();
});

verifies('bad.orchestrator-down', async () => {
  const bridge = StdioPeer.start(bridgeFile, {
    MCP_API_URL: 'http://127.0.0.1:9/api',
    MCP_CONNECT_TIMEOUT: '200ms',
    MCPBRIDGE_HOME: '/nonexistent',
  });
  const { error } = await bridge.initialize();
  expect(error.message).toContain('http://127.0.0.1:9');
  expect(error.message).toContain('npm start');
  expect(error.message).not.toContain('\n');
  bridge.close();
  expect((await ended(bridge.process)).code).toBe(0);
});
