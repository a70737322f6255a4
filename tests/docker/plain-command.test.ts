import { afterAll, beforeAll, expect } from '@jest/globals';
import { verifies } from '../requirements.js';
import { api } from '../support/api.js';
import { startOrchestrator } from '../support/orchestrator.js';
import { eventually } from '../support/processes.js';
import { IMAGE, TestEngine } from './support/engine.js';

let engine: TestEngine;
beforeAll(async () => {
  engine = await TestEngine.start('docker');
});
afterAll(() => engine.stop());

verifies('docker.plain-command', async () => {
  const args = ['run', '-i', '--rm', '-e', 'COLOUR', IMAGE];
  const env = { DOCKER_HOST: engine.host, COLOUR: 'green' };
  const running = await startOrchestrator({ servers: { box: { command: 'docker', args, env } } });
  const call = (tool: string) => api(running, 'a').post(`/tools/mcp/box/${tool}`).send({ text: 'hi' });
  expect((await call('echo')).body.result).toBe('hi');
  expect(JSON.parse((await call('env')).body.result)).toMatchObject({ COLOUR: 'green' });
  await running.stop();
  await eventually('no container is left', async () => (await engine.containers()).length === 0);
});
