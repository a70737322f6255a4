import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type RunningOrchestrator, startOrchestrator } from '../support/orchestrator.js';
import { featuresServer, startBridge, textOf } from '../support/road.js';
import type { StdioPeer } from '../support/stdio-peer.js';

let running: RunningOrchestrator;
beforeAll(async () => {
  running = await startOrchestrator({ servers: { features: featuresServer() } });
});
afterAll(() => running.stop());

const namesOf = async (bridge: StdioPeer): Promise<string[]> =>
  (await bridge.request('tools/list')).result.tools.map((tool: { name: string }) => tool.name);

test('a tool that a server adds for one session is listed and called there, and in no other session', async () => {
  const [one, other] = [startBridge(running), startBridge(running)];
  await Promise.all([one, other].map((bridge) => bridge.initialize()));
  await Promise.all([one, other].map(namesOf));
  await one.callTool('features__add_tool', { name: 'only_here' });
  await one.waitFor((frame) => frame.method === 'notifications/tools/list_changed');
  expect(await namesOf(one)).toContain('features__only_here');
  expect(textOf(await one.callTool('features__only_here'))).toBe('I am only_here');
  expect(await namesOf(other)).not.toContain('features__only_here');
  expect(textOf(await other.callTool('features__only_here'))).toContain('UNKNOWN_TOOL');
  for (const bridge of [one, other]) bridge.close();
});
