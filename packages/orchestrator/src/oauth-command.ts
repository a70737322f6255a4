import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { AppError } from '@mcpbridge/shared/errors.js';
import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';
import { tokenFile } from '@mcpbridge/shared/locate.js';
import type { Settings } from './settings.js';

const LOOK_MS = 1000;
const USAGE = 'Say: oauth status | oauth login SERVER | oauth logout SERVER';

/** `main.js oauth …`: signs in at a server of the running orchestrator, from a machine that may have no browser. */
export async function oauthCommand(settings: Settings, [what, server]: string[]): Promise<void> {
  const ask = asking(settings);
  if (what === 'status') {
    const { servers } = await ask('/api/oauth/status');
    for (const status of Array.isArray(servers) ? servers.filter(isObject) : [])
      console.log(`${status.server}   ${status.state}${status.reason ? `   ${status.reason}` : ''}`);
  } else if (what === 'login' && server) await login(ask, server);
  else if (what === 'logout' && server) {
    await ask('/api/oauth/logout', { server });
    console.log(`Signed out at "${server}".`);
  } else throw new AppError('INVALID_REQUEST', USAGE);
}

type Ask = (path: string, body?: JsonObject) => Promise<JsonObject>;

/** Until the browser came back here, or its last address was pasted. */
async function login(ask: Ask, server: string): Promise<void> {
  const path = `/api/oauth/status?server=${encodeURIComponent(server)}`;
  const { authorization_url: address } = await ask('/api/oauth/start', { server });
  const before = JSON.stringify(await ask(path));
  console.log(`Open this address in a browser, on any machine:\n\n  ${address}\n`);
  console.log(
    'On this machine that is all. Elsewhere the browser ends at an address that it cannot show: paste that here.',
  );
  const lines = createInterface({ input: process.stdin });
  try {
    await Promise.race([pasted(ask, lines), arrived(ask, path, before)]);
  } finally {
    lines.close();
  }
  console.log(`Signed in at "${server}".`);
}

async function pasted(ask: Ask, lines: AsyncIterable<string>): Promise<void> {
  for await (const line of lines) {
    if (line.trim() === '') continue;
    await ask('/api/oauth/callback', { url: line.trim() });
    return;
  }
  // Nobody can paste anything; the browser may still come back.
  await new Promise(() => undefined);
}

async function arrived(ask: Ask, path: string, before: string): Promise<void> {
  for (;;) {
    await new Promise((next) => setTimeout(next, LOOK_MS));
    const status = await ask(path);
    if (status.state === 'signed_in' && JSON.stringify(status) !== before) return;
  }
}

/** The orchestrator of the same settings, as its owner. @throws what it answers instead */
function asking({ home, port, env }: Settings): Ask {
  const base = (env.MCP_API_URL ?? `http://127.0.0.1:${port}`).replace(/\/(api\/?)?$/, '');
  const token = env.MCP_API_TOKEN ?? readFileSync(tokenFile(home), 'utf8').trim();
  return async (path, body) => {
    const response = await fetch(`${base}${path}`, {
      headers: { authorization: `Bearer ${token}` },
      ...(body ? { method: 'POST', body: JSON.stringify(body) } : {}),
    }).catch((cause) => {
      throw new AppError(
        'EXECUTOR_UNREACHABLE',
        `No orchestrator answers at ${base}: start it, or set PORT or MCP_API_URL.`,
        { cause },
      );
    });
    const answer: unknown = await response.json();
    const { error, ...rest } = isObject(answer) ? answer : {};
    if (isObject(error)) throw new AppError('INVALID_REQUEST', String(error.message));
    return rest;
  };
}
