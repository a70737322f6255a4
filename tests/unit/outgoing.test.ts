import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { type Outgoing, openOutgoing, privateAsWritten } from '@mcpbridge/orchestrator/outgoing/outgoing.js';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

function opened(written: string): Outgoing {
  const mayBePrivate = privateAsWritten(written);
  const outgoing = openOutgoing({ who: 'This', mayBePrivate, remedy: 'allow it.' });
  ends.push(() => outgoing.close());
  return outgoing;
}

/** Sends whoever comes to `/redirect` on. */
async function server(host: string, location = ''): Promise<{ origin: string; hits: () => number }> {
  let hits = 0;
  const listening = createServer(({ url }, response) => {
    hits += 1;
    if (url === '/redirect') response.writeHead(302, { location });
    response.end('here');
  }).listen(0, host);
  await once(listening, 'listening');
  ends.push(() => listening.close());
  return { origin: `http://${host}:${(listening.address() as AddressInfo).port}`, hits: () => hits };
}

test('a redirect is followed where it may go by itself, and judged again', async () => {
  const other = await server('127.0.0.2');
  const away = await server('127.0.0.1', `${other.origin}/secret`);
  const outgoing = opened(away.origin);
  await expect(outgoing.fetch(`${away.origin}/redirect`)).rejects.toMatchObject({
    code: 'PROVIDER_UNAVAILABLE',
    message: 'This is not called: the address 127.0.0.2 is not public; allow it.',
  });
  expect(other.hits()).toBe(0);
  const back = await server('127.0.0.1', away.origin);
  expect(await (await outgoing.fetch(`${back.origin}/redirect`)).text()).toBe('here');
});

test('a body of a form is sent as such', async () => {
  const bodies: string[] = [];
  const listening = createServer(async (request, response) => {
    for await (const part of request) bodies.push(`${request.headers['content-type']} ${part}`);
    response.end();
  }).listen(0, '127.0.0.1');
  await once(listening, 'listening');
  ends.push(() => listening.close());
  const url = `http://127.0.0.1:${(listening.address() as AddressInfo).port}/`;
  await opened(url).fetch(url, { method: 'POST', body: new URLSearchParams({ grant_type: 'x' }) });
  expect(bodies).toEqual(['application/x-www-form-urlencoded;charset=UTF-8 grant_type=x']);
});

test('localhost that is meant is not a name that ends with it', async () => {
  expect(privateAsWritten('http://localhost:3000/mcp')('localhost')).toBe(true);
  expect(privateAsWritten('http://LOCALHOST/mcp')('localhost')).toBe(true);
  expect(privateAsWritten('http://notlocalhost/mcp')('notlocalhost')).toBe(false);
  expect(privateAsWritten('http://localhost.evil.example/')('localhost.evil.example')).toBe(false);
  expect(privateAsWritten('http://[::1]:3000/')('::1')).toBe(true);
  expect(privateAsWritten('http://10.0.0.1/')('10.0.0.2')).toBe(false);
});
