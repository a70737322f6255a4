import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { api } from '../support/api.js';
import { type RunningOrchestrator, startOrchestrator } from '../support/orchestrator.js';
import { eventually } from '../support/processes.js';
import { featuresServer } from '../support/road.js';
import { inFolder, startBridge } from '../support/spawned-bridge.js';

let running: RunningOrchestrator;
beforeAll(async () => {
  running = await startOrchestrator({
    servers: { features: featuresServer({}) },
    env: { LOG_LEVEL: 'debug' },
  });
});
afterAll(() => running.stop());

test('a call is one line of each log, joined by session and request, and has what its server said on the way', async () => {
  const file = inFolder('bridge.log');
  const bridge = startBridge({
    MCP_API_URL: running.url,
    MCP_API_TOKEN: running.token,
    MCP_BRIDGE_LOG: file,
  });
  await bridge.initialize();
  await bridge.callTool('features__progress', { steps: 2 }, { progressToken: 'p' });
  const own = await eventually('the bridge has noted it', async () =>
    /tools\/call (\d+): /.exec(await readFile(file, 'utf8')),
  );
  const session = /session (\S+)/.exec(await readFile(file, 'utf8'))?.[1];
  const line = await eventually('the orchestrator has noted it', () =>
    running
      .output()
      .split('\n')
      .filter((text) => text.startsWith('{'))
      .map((text) => JSON.parse(text))
      .find(({ message }) => message === 'call'),
  );
  expect(line).toMatchObject({
    level: 'debug',
    session,
    request: Number(own[1]),
    server: 'features',
    tool: 'progress',
    outcome: 'ok',
  });
  const { body } = await api(running).get(`/api/calls/${line.call}`);
  expect(body.notes.map(({ kind }: { kind: string }) => kind)).toEqual(['progress', 'progress']);
});
