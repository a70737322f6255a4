// A catalog of 5,000 tools from 100 servers, a start beside servers that never answer, and 1,000 idle sessions.
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startOrchestrator } from './ours.mjs';
import { residentMegabytes, stop } from './processes.mjs';
import { median } from './stdio-client.mjs';
import { atMost, row, within } from './table.mjs';

const file = fileURLToPath(new URL('many-tools.mjs', import.meta.url));
const SERVERS = 100;
const TOOLS = 50;
const SESSIONS = 1000;
const WORDS = ['merge two reports', 'calendar event', 'delete contact', 'send message', 'invoice history'];

const server = (name, count) => ({ command: process.execPath, args: [file, name, String(count)] });

export async function catalog() {
  const servers = Object.fromEntries(
    Array.from({ length: SERVERS }, (_, index) => [`s${index}`, server(`service ${index}`, TOOLS)]),
  );
  const large = await startOrchestrator({ name: 'orchestrator-large', servers, tools: SERVERS * TOOLS });
  const list = median(await timed(20, () => listTools(large)));
  const find = median(await timed(50, (turn) => search(large, WORDS[turn % WORDS.length])));
  await stop(large.child);

  const plain = { a: server('a', 3), b: server('b', 3) };
  const dead = { gone: { command: '/bin/false' }, silent: { command: '/bin/sleep', args: ['1000'] } };
  const [alone, beside] = [[], []];
  for (let round = 0; round < 5; round++) {
    alone.push(await startTime('orchestrator-alone', plain));
    beside.push(await startTime('orchestrator-beside', { ...plain, ...dead }));
  }

  const idle = await startOrchestrator({
    name: 'orchestrator-idle',
    servers: { a: server('a', 3) },
    tools: 3,
  });
  const each = await perSession(idle);
  await stop(idle.child);

  return {
    name: 'catalog',
    ran: `tools/list of ${SERVERS * TOOLS} tools and a search, both warm, medians; starts until the tools of two good servers are listed, medians of 5; ${SESSIONS} sessions opened over REST`,
    rows: [
      row('tools/list, 5,000 tools of 100 servers, warm', 'ms', list, ['limit', 50], within),
      row('search among 5,000 tools', 'ms', find, ['limit', 10], within),
      row(
        'start beside a dead and a silent server',
        'ms',
        median(beside),
        ['without', median(alone)],
        atMost(1.2),
      ),
      row('one of 1,000 idle sessions', 'KB', each, ['limit', 100], within),
    ],
    figures: [
      ['tools/list', 'ms', list],
      ['search', 'ms', find],
      ['start alone', 'ms', median(alone)],
      ['start beside', 'ms', median(beside)],
      ['session', 'KB', each],
    ],
  };
}

async function timed(times, run) {
  await run(0);
  const took = [];
  for (let turn = 0; turn < times; turn++) {
    const begun = performance.now();
    await run(turn);
    took.push(performance.now() - begun);
  }
  return took;
}

async function ask({ url, token }, path, body, headers = {}) {
  const response = await fetch(url + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { text: await response.text(), session: response.headers.get('mcp-session-id') };
}

async function listTools(orchestrator) {
  orchestrator.session ??= (
    await ask(orchestrator, '/mcp', {
      jsonrpc: '2.0',
      id: 0,
      method: 'initialize',
      params: {
        protocolVersion: '2025-11-25',
        capabilities: {},
        clientInfo: { name: 'bench', version: '1.0.0' },
      },
    })
  ).session;
  const headers = { 'mcp-session-id': orchestrator.session };
  const { text } = await ask(orchestrator, '/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list' }, headers);
  const listed = text.split('"inputSchema"').length - 1;
  if (listed < SERVERS * TOOLS) throw new Error(`tools/list has ${listed} tools.`);
}

async function search(orchestrator, words) {
  const { text } = await ask(orchestrator, `/api/tools/search?q=${encodeURIComponent(words)}&limit=10`);
  if (!text.includes('"inputSchema"')) throw new Error(`The search for "${words}" found nothing: ${text}`);
}

/** Until the tools of the good servers are listed. */
async function startTime(name, servers) {
  const begun = performance.now();
  const { child } = await startOrchestrator({ name, servers, tools: 6, fresh: true });
  const took = performance.now() - begun;
  await stop(child);
  return took;
}

async function perSession(orchestrator) {
  const open = () =>
    ask(orchestrator, '/api/sessions', { tools: { allow: ['a__*'] }, limits: { concurrent: 4 } });
  for (let warm = 0; warm < 50; warm++) await open();
  await delay(500);
  const before = residentMegabytes(orchestrator.child.pid);
  for (let made = 0; made < SESSIONS; made++) await open();
  await delay(1500); // what was to be stored is stored
  return ((residentMegabytes(orchestrator.child.pid) - before) * 1024) / SESSIONS;
}
