import { mkdir, writeFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { startExecutor } from '../fixtures/executor.mjs';
import { startEndpoint } from '../fixtures/mcp-endpoint.mjs';
import { ended } from '../support/processes.js';
import { inFolder, startBridge, toolList } from '../support/spawned-bridge.js';

async function doctor(env: NodeJS.ProcessEnv): Promise<{ code: number | null; said: string }> {
  const bridge = startBridge(env, ['doctor']);
  const closed = new Promise((done) => bridge.process.stdout?.once('close', done));
  const { code } = await ended(bridge.process);
  await closed;
  return { code, said: bridge.noise.join('\n') };
}

test('doctor says that all is well, and how many tools there are', async () => {
  const endpoint = await startEndpoint({ token: 'right' });
  await mkdir(inFolder('home'));
  await writeFile(inFolder('home/token'), 'right');
  const { code, said } = await doctor({ MCP_API_URL: endpoint.url });
  expect(said).toMatch(/transparent/);
  expect(said).toMatch(new RegExp(`address ${endpoint.url}`));
  expect(said).toMatch(/socket .*\.sock \(not there; TCP is used\)/);
  expect(said).toMatch(/token .*home\/token$/m);
  expect(said).toMatch(/ready +yes/);
  expect(said).toMatch(/tools +1, listed in \d+ ms/);
  expect(said).toMatch(/All is well\.$/);
  expect(code).toBe(0);
  await endpoint.stop();
});

test('doctor says that the token is wrong, and what to set', async () => {
  const endpoint = await startEndpoint({ token: 'right' });
  const { code, said } = await doctor({ MCP_API_URL: endpoint.url, MCP_API_TOKEN: 'wrong' });
  expect(said).toMatch(/FAILED .*401.*refused the token in MCP_API_TOKEN; set MCP_API_TOKEN/);
  expect(code).toBe(1);
  await endpoint.stop();
});

test('doctor says that nobody answers, at once, and what to do', async () => {
  const { code, said } = await doctor({ MCP_API_URL: 'http://127.0.0.1:1' });
  expect(said).toMatch(
    /FAILED .*http:\/\/127\.0\.0\.1:1 .*could not be reached: .*ECONNREFUSED.*`npm start`/,
  );
  expect(code).toBe(1);
});

test('doctor of a listed bridge is content with an executor that only answers', async () => {
  const executor = await startExecutor();
  const { code, said } = await doctor({ MCP_API_URL: executor.url, MCP_TOOLS: toolList('a', 'b') });
  expect(said).toMatch(/listed: the 2 tools of MCP_TOOLS/);
  expect(code).toBe(0);
  await executor.stop();
});
