import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { api } from '../support/api.js';
import { bareServer, type RunningOrchestrator, startOrchestrator } from '../support/orchestrator.js';
import { eventually } from '../support/processes.js';
import { featuresServer } from '../support/road.js';

const canary = 'canary-5up3r-s3cr3t';
let home: string;
let running: RunningOrchestrator | undefined;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'mcpbridge-clients-'));
});
afterEach(async () => {
  await running?.stop();
  running = undefined;
  await rm(home, { recursive: true, force: true });
});

async function start(files: Record<string, string>, env: Record<string, string> = {}) {
  for (const [place, text] of Object.entries(files)) {
    await mkdir(dirname(join(home, place)), { recursive: true });
    await writeFile(join(home, place), text);
  }
  running = await startOrchestrator({ servers: {}, env: { HOME: home, ...env } });
  return running;
}

interface ClientFile {
  client: string;
  file: string;
  servers: Record<string, unknown>;
}
const placeholder = (name: string) => ['$', '{', name, '}'].join('');
const found = async (at: RunningOrchestrator) => {
  const { body, text } = await api(at).get('/api/mcp-config/clients');
  expect(text).not.toContain(canary);
  return body.clients as ClientFile[];
};
const take = async (at: RunningOrchestrator, { file }: ClientFile, servers: string[]) => {
  const { status, text } = await api(at).post('/api/mcp-config/clients').send({ file, servers });
  expect([status, text]).toEqual([200, expect.not.stringContaining(canary)]);
};

/** Notes the headers of what it is asked. */
async function listeningServer() {
  const asked: IncomingHttpHeaders[] = [];
  const server = createServer(({ headers }, response) => {
    asked.push(headers);
    response.writeHead(404).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, server };
}

test("servers of Codex's TOML are offered with their secrets masked, and taken over with them", async () => {
  const { asked, url, server } = await listeningServer();
  const { command, args } = featuresServer() as { command: string; args: string[] };
  const at = await start(
    {
      '.codex/config.toml': `
model = "any" # what else is in it
when = 2026-11-30T09:00:00Z
[mcp_servers.mine]
command = ${JSON.stringify(command)}
args = ${JSON.stringify(args)}
env_vars = ["HANDED_ON", { name = "NOT_SET_ANYWHERE", source = "local" }]
startup_timeout_sec = 20
tool_timeout_sec = 1.5
[mcp_servers.mine.env]
SECRET = "${canary}"
[mcp_servers."far.away"]
url = "${url}"
bearer_token_env_var = "CODEX_BEARER"
http_headers = { "X-Region" = "${canary}-eu" }
env_http_headers = { "X-Key" = "CODEX_KEY" }
[mcp_servers.off]
command = "none"
args = ["--token", "${canary}"]
enabled = false
[mcp_servers.bridge]
command = "npx"
args = ["mcpbridge"]
`,
    },
    { HANDED_ON: 'yes', CODEX_BEARER: `${canary}-bearer`, CODEX_KEY: `${canary}-key` },
  );
  const [codex, ...others] = await found(at);
  expect(others).toEqual([]);
  expect(codex).toEqual({
    client: 'Codex',
    file: join(home, '.codex/config.toml'),
    servers: {
      mine: {
        command,
        args,
        env: {
          HANDED_ON: placeholder('HANDED_ON:-'),
          NOT_SET_ANYWHERE: placeholder('NOT_SET_ANYWHERE:-'),
          SECRET: '********',
        },
        startTimeout: '20s',
        timeout: '1.5s',
      },
      'far.away': {
        url,
        headers: {
          'X-Region': '********',
          'X-Key': placeholder('CODEX_KEY'),
          Authorization: `Bearer ${placeholder('CODEX_BEARER')}`,
        },
      },
      off: { command: 'none', args: ['--token', '********'], enabled: false },
    },
  });
  await take(at, codex as ClientFile, ['mine', 'far.away', 'off']);
  await eventually('the distant one is asked', () => asked.length > 0, 60_000);
  expect(asked[0]).toMatchObject({
    authorization: `Bearer ${canary}-bearer`,
    'x-region': `${canary}-eu`,
    'x-key': `${canary}-key`,
  });
  const seen = await api(at).post('/tools/mcp/mine/env').send({});
  expect(JSON.parse(seen.body.result)).toMatchObject({ HANDED_ON: 'yes', NOT_SET_ANYWHERE: '' });
  const { body } = await api(at).get('/api/mcp-config/status');
  const states = Object.fromEntries(
    body.servers.map(({ id, state }: { id: string; state: string }) => [id, state]),
  );
  expect(states).toMatchObject({ mine: 'ready', off: 'disabled' });
  server.close();
});

test("servers of opencode's JSON with comments are offered and taken over, in both of its forms", async () => {
  const entry = {
    type: 'local',
    command: [bareServer.command, ...bareServer.args],
    environment: { API_TOKEN: canary, FROM: '{env:OPENCODE_FROM}' },
    enabled: true,
    timeout: 4000,
  };
  const at = await start(
    {
      '.config/opencode/opencode.json': `{
        // Whoever reads this: it is fine.
        "mcp": {"mine": ${JSON.stringify(entry)}, "far": {"type": "remote", "url": "https://nowhere.invalid/mcp?key=${canary}",
          "headers": {"Authorization": "Bearer {env:FAR_TOKEN}"}, "oauth": {"clientId": "me", "clientSecret": "${canary}"}},},
      }`,
      '.config/opencode/opencode.jsonc': `{"mcp": {/* the later form */ "servers": {
        "later": {"type": "local", "command": ["node", "--token=${canary}"], "disabled": true}, "odd": 7}}}`,
    },
    { OPENCODE_FROM: 'the environment' },
  );
  const [first, second] = await found(at);
  expect(first).toMatchObject({
    client: 'opencode',
    servers: {
      mine: {
        ...bareServer,
        env: { API_TOKEN: '********', FROM: placeholder('OPENCODE_FROM') },
        enabled: true,
        timeout: 4000,
      },
      far: {
        url: 'https://nowhere.invalid/mcp?key=********',
        headers: { Authorization: `Bearer ${placeholder('FAR_TOKEN')}` },
        oauth: { clientId: 'me', clientSecret: '********' },
      },
    },
  });
  expect(second?.servers).toEqual({ later: { command: 'node', args: ['--token=********'], disabled: true } });
  await take(at, first as ClientFile, ['mine']);
  await take(at, second as ClientFile, ['later']);
  const { body } = await api(at).post('/tools/mcp/mine/echo').send({ text: 'taken over' });
  expect(body.result).toBe('taken over');
  expect((await api(at).get('/api/mcp-config')).text).not.toContain(canary);
});

test('a file that cannot be read offers nothing, and says nothing of what is in it', async () => {
  const at = await start({
    '.codex/config.toml': `[mcp_servers.x]\ncommand = "${canary}`,
    '.config/opencode/opencode.json': `{"mcp": {"x": {"command": ["${canary}"`,
    '.cursor/mcp.json': '{"mcpServers": {"other": {"command": "node"}}}',
  });
  expect((await found(at)).map(({ client }) => client)).toEqual(['Cursor']);
  const refused = await api(at)
    .post('/api/mcp-config/clients')
    .send({ file: join(home, '.codex/config.toml'), servers: ['x'] });
  expect([refused.status, refused.body.error.code]).toEqual([404, 'NOT_FOUND']);
  expect(refused.text + at.output()).not.toContain(canary);
});
