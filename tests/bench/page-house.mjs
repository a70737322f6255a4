// A real orchestrator and a real browser for the benches of the page.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { chromium } from 'playwright-core';
import { startNode, stopAll } from './processes.mjs';
import { StdioClient } from './stdio-client.mjs';

const root = join(import.meta.dirname, '../..');
const fixture = (name) => join(root, 'tests/fixtures', name);
const node = (name) => ({ command: process.execPath, args: [fixture(name)] });
const A_SECOND = 200;

export async function openHouse() {
  const home = mkdtempSync(join(tmpdir(), 'bench-page-'));
  const isDead = join(home, 'is-dead');
  const servers = {
    bare: node('bare-server.mjs'),
    features: node('features-server.mjs'),
    page: node('page-server.mjs'),
    // Starts as long as that file is not there.
    mortal: {
      isolation: 'shared',
      command: 'sh',
      args: [
        '-c',
        `test -e ${isDead} && exit 3; exec ${process.execPath} ${fixture('bare-server.mjs')} ${isDead}`,
      ],
    },
  };
  writeFileSync(join(home, 'mcp_servers.json'), JSON.stringify({ mcpServers: servers }));
  const orchestrator = startNode('orchestrator', [join(root, 'packages/orchestrator/dist/main.js')], {
    MCPBRIDGE_HOME: home,
    PORT: '0',
    MCP_CONFIG: join(home, 'mcp_servers.json'),
    WORKSPACE_DIR: join(home, 'workspace'),
  });
  const url = await addressOf(orchestrator);
  const token = readFileSync(join(home, 'token'), 'utf8').trim();
  const agent = new Agent({ keepAlive: true, maxSockets: 32 });
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: [
      '--no-sandbox',
      '--disable-dev-shm-usage',
      '--enable-precise-memory-info',
      '--js-flags=--expose-gc',
    ],
  });

  const send = (method, path, body) =>
    new Promise((resolve, reject) => {
      const sent = request(`${url}${path}`, { method, agent, headers }, (response) => {
        let text = '';
        response.on('data', (chunk) => (text += chunk)).on('end', () => resolve(text));
      });
      sent.on('error', reject).end(body === undefined ? undefined : JSON.stringify(body));
    });
  const call = (number) => send('POST', '/tools/mcp/bare/echo', { text: `call ${number}` });

  return {
    url,
    send,
    call,
    /** As fast as they go, 32 at once. */
    async make(calls) {
      let left = calls;
      const worker = async () => {
        while (left-- > 0) await call(left);
      };
      await Promise.all(Array.from({ length: 32 }, worker));
    },
    /** So many a second until it is stopped. */
    flow(perSecond = A_SECOND) {
      const begun = Date.now();
      let made = 0;
      const timer = setInterval(() => {
        for (const due = ((Date.now() - begun) * perSecond) / 1000; made < due; made++)
          call(made).catch(() => undefined);
      }, 20);
      return () => clearInterval(timer);
    },
    /** A client of its own: a real bridge. */
    async bridge(session) {
      const child = startNode(`bridge-${session}`, [join(root, 'packages/mcpbridge/dist/mcpbridge.cjs')], {
        MCP_API_URL: `${url}/api`,
        MCP_SESSION_ID: session,
        MCP_API_TOKEN: token,
      });
      const client = new StdioClient(child, {});
      await client.initialize();
      return (name, args = {}) => client.request('tools/call', { name, arguments: args });
    },
    /** Kills that server, which does not start again. */
    kill() {
      writeFileSync(isDead, '');
      for (const pid of readdirSync('/proc'))
        if (/^\d+$/.test(pid) && commandOf(pid).endsWith(`\0${isDead}\0`))
          process.kill(Number(pid), 'SIGKILL');
    },
    /** A page of a browser of its own that was let in and has loaded nothing. */
    blank: () => blankPage(browser, url, token),
    async visit(path = '/') {
      const page = await blankPage(browser, url, token);
      await page.goto(`${url}${path}`);
      await page.locator('main').waitFor();
      return page;
    },
    async close() {
      await browser.close();
      await stopAll();
      agent.destroy();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

async function blankPage(browser, url, token) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  context.setDefaultTimeout(20_000);
  const login = await fetch(`${url}/api/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token }),
  });
  const [name, value] = login.headers.get('set-cookie').split(';')[0].split('=');
  await context.addCookies([{ name, value, url, httpOnly: true, sameSite: 'Strict' }]);
  return context.newPage();
}

function commandOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return ''; // It is gone.
  }
}

async function addressOf(child) {
  for await (const line of createInterface({ input: child.stdout })) {
    const found = /http:\/\/[\d.]+:\d+/.exec(line);
    if (found) return found[0];
  }
  throw new Error('The orchestrator ended at its start.');
}
