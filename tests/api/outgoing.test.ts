import { once } from 'node:events';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { verifies } from '../requirements.js';
import { api } from '../support/api.js';
import { type RunningOrchestrator, startOrchestrator } from '../support/orchestrator.js';
import { fixture } from '../support/processes.js';
import { Upstreams } from '../support/upstreams.js';

/** The metadata service of clouds in every dress, and other places where no server of anybody is. */
const NEVER = [
  'http://169.254.169.254/mcp',
  'http://2852039166/mcp',
  'http://0xa9fea9fe/mcp',
  'http://0251.0376.0251.0376/mcp',
  'http://169.254.43518/mcp',
  'http://[::ffff:169.254.169.254]/mcp',
  'http://[::169.254.169.254]/mcp',
  'http://[2002:a9fe:a9fe::]/mcp',
  'http://[64:ff9b::a9fe:a9fe]/mcp',
  'http://[64:ff9b:1::a9fe:a9fe]/mcp',
  'http://[fd00:ec2::254]/mcp',
  'http://[fe80::1]/mcp',
  'http://[fec0::1]/mcp',
  'http://100.100.100.200/mcp',
  'http://168.63.129.16/mcp',
  'http://0.0.0.0/mcp',
  'http://[::]/mcp',
  'http://224.0.0.1/mcp',
  'http://240.0.0.1/sse',
];
const PUBLIC = '93.184.215.14';
const dialledFile = join(tmpdir(), `dialled-${process.pid}`);
const upstreams = new Upstreams();
const listeners: Server[] = [];
let running: RunningOrchestrator;
let inner: { port: number; hits: string[] };
/** Ports of servers that may be dialled; they are asked in the background, too. */
const open = new Set<string>();

/** What was really dialled since the last time, but for the servers that may be and the one public address. */
function dialled(): string[] {
  const text = existsSync(dialledFile) ? readFileSync(dialledFile, 'utf8') : '';
  rmSync(dialledFile, { force: true });
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith(PUBLIC));
  return lines.filter((line) => !open.has(line.slice(line.lastIndexOf(':') + 1)));
}

/** An HTTP server that writes down who came, and sends everybody on to `location`. */
async function listener(location?: string): Promise<{ port: number; hits: string[] }> {
  const hits: string[] = [];
  const server = createServer((request, response) => {
    hits.push(`${request.method} ${request.url}`);
    if (location) response.writeHead(307, { location });
    response.end('{}');
  });
  listeners.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, hits };
}

const call = async (server: string, tool = 'echo', args: object = { text: 'hi' }) =>
  (await api(running, 'a').post(`/tools/mcp/${server}/${tool}`).send(args)).body;

beforeAll(async () => {
  inner = await listener();
  const { port } = await upstreams.httpServer();
  open.add(port);
  const never = NEVER.flatMap((url, index) => [
    [`never${index}`, { url }],
    [`allowed${index}`, { url, allowPrivate: true }],
  ]);
  const sends = async (location: string) => {
    const { port } = await listener(location);
    open.add(String(port));
    return { url: `http://127.0.0.1:${port}/mcp` };
  };
  running = await startOrchestrator({
    servers: {
      ...Object.fromEntries(never),
      literal: { url: `http://127.0.0.1:${port}/mcp` },
      localhost: { url: `http://localhost:${port}/mcp` },
      odd: { url: `http://0x7f.1:${port}/mcp` },
      named: { url: `http://loop.test:${port}/mcp` },
      'named-sse': { url: `http://loop.test:${port}/sse` },
      permitted: { url: `http://loop.test:${port}/mcp`, allowPrivate: true },
      lan: { url: 'http://lan.test/mcp' },
      lan6: { url: 'http://lan6.test/mcp' },
      public: { url: 'http://public.test/mcp' },
      rebinds: { url: `http://rebinds.test:${inner.port}/mcp` },
      'sent-by-name': await sends(`http://loop.test:${inner.port}/mcp`),
      'sent-to-address': await sends(`http://127.0.0.2:${inner.port}/mcp`),
      'sent-to-metadata': await sends('http://169.254.169.254/latest/'),
    },
    env: {
      NODE_OPTIONS: `--import=${fixture('watched-network.mjs')}`,
      DIALLED_FILE: dialledFile,
      CALLBACK_HOSTS: 'meta.test,loop.test',
      TEST_HOSTS: JSON.stringify({
        'loop.test': ['127.0.0.1'],
        'lan.test': ['10.0.0.5'],
        'lan6.test': ['fd12::1'],
        'meta.test': ['169.254.169.254'],
        'public.test': [PUBLIC],
        'rebinds.test': Array.from({ length: 50 }, (_, look) => (look % 2 ? '127.0.0.1' : PUBLIC)),
      }),
    },
  });
}, 60_000);
afterAll(async () => {
  await running?.stop();
  await upstreams.close();
  for (const server of listeners) server.close();
  rmSync(dialledFile, { force: true });
});

verifies('security.outgoing', async () => {
  dialled();
  for (const [index, url] of NEVER.entries()) {
    for (const id of [`never${index}`, `allowed${index}`]) {
      const { error } = await call(id);
      expect([url, error.message]).toEqual([
        url,
        expect.stringMatching(/^Server "\w+" is not called: the address .* is none where servers are/),
      ]);
    }
  }
  expect(dialled()).toEqual([]);
});

describe('a name', () => {
  for (const [id, at] of [
    ['named', 'loop.test (127.0.0.1)'],
    ['named-sse', 'loop.test (127.0.0.1)'],
    ['lan', 'lan.test (10.0.0.5)'],
    ['lan6', 'lan6.test (fd12::1)'],
  ]) {
    test(`that leads to a private address is not dialled, and the line says what to write: ${id}`, async () => {
      dialled();
      const { error } = await call(id ?? '');
      expect(error).toMatchObject({ code: 'PROVIDER_UNAVAILABLE', retryable: false });
      expect(error.message).toBe(
        `Server "${id}" is not called: the address ${at} is not public; write "allowPrivate": true into its entry if that is meant.`,
      );
      expect(dialled()).toEqual([]);
    });
  }

  test('that leads to a private address is dialled where its entry says so', async () => {
    expect((await call('permitted')).result).toBe('hi');
  });

  test('that leads to a public address is dialled', async () => {
    rmSync(dialledFile, { force: true });
    await api(running).post('/api/servers/public/start').send({});
    expect(readFileSync(dialledFile, 'utf8')).toContain(`${PUBLIC}:80\n`);
  });

  test('that changes its address between two looks is dialled at the one that was judged', async () => {
    for (let times = 0; times < 3; times += 1) {
      dialled();
      await api(running).post('/api/servers/rebinds/start').send({});
      expect(dialled()).toEqual([]);
    }
    expect(inner.hits).toEqual([]);
  });
});

test('a server at localhost or at an address that its owner wrote works without more words', async () => {
  for (const id of ['literal', 'localhost', 'odd']) expect([id, (await call(id)).result]).toEqual([id, 'hi']);
});

test('a server that sends its callers on sends them nowhere else', async () => {
  for (const id of ['sent-by-name', 'sent-to-address', 'sent-to-metadata']) {
    dialled();
    await api(running).post(`/api/servers/${id}/start`).send({});
    expect((await call(id)).error.message).toMatch(`Server "${id}" answered 307`);
    expect(dialled()).toEqual([]);
  }
  expect(inner.hits).toEqual([]);
});

describe('a custom tool', () => {
  const register = (name: string, url: string) =>
    api(running).post('/api/sessions/a/tools').send({ name, description: 'x', inputSchema: {}, url });
  const run = async (name: string) =>
    (await api(running, 'a').post(`/tools/custom/${name}`).send({})).body.error.message;

  test('at a listed host that leads to the metadata service is not called', async () => {
    await register('meta', 'http://meta.test/latest/');
    dialled();
    expect(await run('meta')).toMatch('the address meta.test (169.254.169.254) is none where servers are');
    expect(dialled()).toEqual([]);
  });

  test('at a listed host on a private network is called, until the host is listed no more', async () => {
    await register('inside', `http://loop.test:${inner.port}/tool`);
    const before = inner.hits.length;
    await api(running, 'a').post('/tools/custom/inside').send({});
    expect(inner.hits.slice(before)).toEqual(['POST /tool']);
    await running.stop(true);
    running = await startOrchestrator({ again: running, servers: {} });
    expect(await run('inside')).toMatch('Tools at "loop.test" are not called');
    expect(inner.hits.slice(before)).toEqual(['POST /tool']);
  });
});
