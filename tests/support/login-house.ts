import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { RunningOrchestrator } from './orchestrator.js';
import { ended, fixture, startNode } from './processes.js';

interface Seen {
  token: { outcome: string; grant: string; resource?: string; scope?: string }[];
  calls: { name: string; sub: string; args: Record<string, unknown> }[];
  refused: string[];
}

export interface LoginHouse {
  issuer: string;
  /** Of the MCP server that it guards. */
  mcp: string;
  seen(): Promise<Seen>;
  set(change: Record<string, unknown>): Promise<void>;
  /** The token that it saw last is good no more; others are. */
  refuseLatest(): Promise<void>;
  /** A token with these claims over good ones; `foreign`: signed by somebody else. */
  mint(claims: Record<string, unknown>, foreign?: boolean): Promise<string>;
  /** Nobody is signed in any more. */
  forgetGrants(): Promise<void>;
  stop(): Promise<void>;
}

/** A real authorization server and an MCP server behind it: tests/fixtures/login-house.mjs. */
export async function startLoginHouse(env: Record<string, string> = {}): Promise<LoginHouse> {
  const child = startNode(fixture('login-house.mjs'), [], env);
  const [line] = await once(createInterface({ input: child.stdout as NodeJS.ReadableStream }), 'line');
  const { issuer, mcp } = JSON.parse(line) as { issuer: string; mcp: string };
  const control = async (name: string, body: object = {}) => {
    const response = await fetch(new URL(`/control/${name}`, mcp), {
      method: 'POST',
      body: JSON.stringify(body),
    });
    return response.json();
  };
  return {
    issuer,
    mcp,
    seen: async () => (await control('seen')) as Seen,
    set: async (change) => void (await control('set', change)),
    refuseLatest: async () => void (await control('refuse-latest')),
    mint: async (claims, foreign = false) =>
      ((await control('mint', { claims, foreign })) as { token: string }).token,
    forgetGrants: async () => void (await control('forget-grants')),
    async stop() {
      child.kill('SIGKILL');
      await ended(child);
    },
  };
}

/** What a person does in a browser: follows the redirects with its cookies; answers the address that leads away. */
export async function browse(start: string, user = 'somebody'): Promise<string> {
  const cookies = new Map<string, string>();
  const { origin } = new URL(start);
  let url = start;
  while (new URL(url).origin === origin) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, { redirect: 'manual', headers: { cookie, 'x-test-user': user } });
    for (const line of response.headers.getSetCookie()) {
      const [name = '', value = ''] = line.split(';')[0]?.split('=', 2) ?? [];
      if (value === '') cookies.delete(name);
      else cookies.set(name, value);
    }
    const location = response.headers.get('location');
    if (!location)
      throw new Error(`The browser is stuck at ${url}: ${response.status} ${await response.text()}`);
    url = new URL(location, url).href;
  }
  return url;
}

/** Signs in at a server through start and callback, as whoever `headers` say. */
export async function signIn(
  { url, headers }: RunningOrchestrator,
  server: string,
  { user = 'somebody', scope, authorization }: { user?: string; scope?: string; authorization?: string } = {},
): Promise<string> {
  const begun = await fetch(`${url}/api/oauth/start`, {
    method: 'POST',
    headers: { ...headers(), ...(authorization ? { authorization } : {}) },
    body: JSON.stringify({ server, ...(scope ? { scope } : {}) }),
  });
  const { authorization_url: address, error } = (await begun.json()) as {
    authorization_url?: string;
    error?: { message: string };
  };
  if (!address) throw new Error(error?.message);
  const back = await browse(address, user);
  const bring = () =>
    fetch(`${url}/api/oauth/callback`, {
      method: 'POST',
      headers: { authorization: authorization ?? '' },
      body: JSON.stringify({ url: back }),
    });
  const brought = await (authorization === undefined ? fetch(back) : bring());
  const text = await brought.text();
  if (!brought.ok) throw new Error(`The sign-in failed at its end: ${text}`);
  return text;
}
