import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { TestEngine } from '../docker/support/engine.js';
import { freePort } from '../support/free-port.js';
import { eventually, root } from '../support/processes.js';
import { startBridge } from '../support/spawned-bridge.js';
import { importBase, installPrograms } from './base-image.js';

const HEALTHY_MS = 120_000;
let engine: TestEngine;
let folder: string;
let url: string;
let token: string;

/** `docker-compose …`, with the project's own file on a port that is free, built with this machine's network. */
function compose(...args: string[]): string {
  const files = ['docker-compose.yml', 'build.yml'].flatMap((name) => ['-f', join(folder, name)]);
  return execFileSync('docker-compose', ['-p', 'tried', '--project-directory', root, ...files, ...args], {
    env: { ...process.env, DOCKER_HOST: engine.host, COMPOSE_DOCKER_CLI_BUILD: '0', DOCKER_BUILDKIT: '0' },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

beforeAll(async () => {
  await installPrograms();
  folder = mkdtempSync(join(tmpdir(), 'mcpbridge-compose-'));
  engine = await TestEngine.start('docker');
  await importBase(engine.socket);
  const port = await freePort();
  const file = readFileSync(join(root, 'docker-compose.yml'), 'utf8');
  writeFileSync(join(folder, 'docker-compose.yml'), file.replace('127.0.0.1:8080:', `127.0.0.1:${port}:`));
  const build = 'build: {network: host}';
  writeFileSync(
    join(folder, 'build.yml'),
    `services:\n  orchestrator:\n    ${build}\n  workspace:\n    ${build}\n`,
  );
  url = `http://127.0.0.1:${port}`;
  compose('build');
  compose('up', '-d', '--no-build');
  await eventually('both are healthy', () => healthy().length === 2, HEALTHY_MS);
  token = compose('exec', '-T', 'orchestrator', 'cat', '/data/token').trim();
});
afterAll(async () => {
  try {
    if (token) compose('down', '-v');
  } finally {
    await engine?.stop();
    if (folder) rmSync(folder, { recursive: true, force: true });
  }
});

const healthy = () =>
  compose('ps', '-q')
    .trim()
    .split('\n')
    .filter((id) => id && health(id) === 'healthy');

function health(id: string): string {
  const env = { ...process.env, DOCKER_HOST: engine.host };
  return execFileSync('docker', ['inspect', '-f', '{{.State.Health.Status}}', id], {
    env,
    encoding: 'utf8',
  }).trim();
}

async function ask(path: string, body: object, session?: string): Promise<Record<string, unknown>> {
  const headers = { authorization: `Bearer ${token}`, ...(session ? { 'x-session-id': session } : {}) };
  const answer = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) });
  return (await answer.json()) as Record<string, unknown>;
}

test('a bridge on this machine calls tools of the workspace through both containers', async () => {
  const bridge = startBridge({ MCP_API_URL: `${url}/api`, MCP_API_TOKEN: token });
  await bridge.initialize();
  const call = async (name: string, args: object) =>
    JSON.stringify((await bridge.callTool(name, args)).result);
  await call('write_workspace_file', { filepath: 'a/note.txt', content: 'a needle' });
  expect(await call('search_workspace_files', { query: 'needle' })).toContain('a/note.txt:1: a needle');
  const ran = await call('execute_shell_command', {
    command: 'cat a/note.txt; id -u; ls /app /secret /data',
  });
  expect(ran).toContain('a needle1000\\\\n');
  expect(ran.match(/Permission denied|No such file/g)).toHaveLength(3);
});

test('a command in the workspace calls tools at the orchestrator by curl, and reaches nothing else', async () => {
  const { id } = await ask('/api/sessions', { network: 'orchestrator' });
  const command = `curl --fail-with-body -sS --json '{"message":"from within"}' -H "$MCP_AUTH" $MCP_MCP/everything/echo
    for one in orchestrator:8080 workspace:8080 127.0.0.1:8080 169.254.169.254; do curl -sS -m 3 http://$one/health 2>/dev/null && echo REACHED $one; done`;
  const { stdout } = (await ask('/api/execute', { command }, String(id))) as { stdout: string };
  expect(stdout).toContain('from within');
  expect(stdout).not.toContain('REACHED');
});

test('the workspace works on when it alone is started again', async () => {
  compose('restart', 'workspace');
  await eventually('both are healthy', () => healthy().length === 2, HEALTHY_MS);
  expect(await ask('/api/execute', { command: 'echo again' }, 'later')).toMatchObject({ stdout: 'again\n' });
});
