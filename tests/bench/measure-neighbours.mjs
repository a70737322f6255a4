// Twenty servers of which one is dead, one takes 30 s to start and one crashes at every call: what the others lose by it.
import { fileURLToPath } from 'node:url';
import { startOrchestrator } from './ours.mjs';
import { bareServer } from './peers.mjs';
import { stop } from './processes.mjs';
import { median } from './stdio-client.mjs';
import { atMost, row, within } from './table.mjs';

const features = fileURLToPath(new URL('../fixtures/features-server.mjs', import.meta.url));
const GOOD = 17;
const ROUNDS = 40;
const CALLS = 50;

const bare = { command: process.execPath, args: [bareServer] };
const good = Object.fromEntries(Array.from({ length: GOOD }, (_, index) => [`good${index}`, bare]));
const bad = {
  dead: { command: 'no-such-program-here' },
  late: { command: 'sh', args: ['-c', `sleep 30; exec "${process.execPath}" "${bareServer}"`] },
  crashing: { command: process.execPath, args: [features] },
};

export async function neighbours() {
  const toolsOfBare = 3;
  const alone = await startOrchestrator({
    name: 'orchestrator-good',
    servers: good,
    tools: GOOD * toolsOfBare,
  });
  const beside = await startOrchestrator({
    name: 'orchestrator-neighbours',
    servers: { ...good, ...bad },
    tools: GOOD * toolsOfBare + 1,
    fresh: true,
  });
  let isOver = false;
  const crashes = crashOnAndOn(beside, () => isOver);
  const took = { alone: { lists: [], calls: [] }, beside: { lists: [], calls: [] } };
  try {
    for (let round = 0; round < ROUNDS; round++) {
      for (const [name, orchestrator] of Object.entries({ alone, beside })) {
        took[name].lists.push(await timed(() => listAnew(orchestrator)));
        for (let call = 0; call < CALLS; call++) took[name].calls.push(await timed(() => echo(orchestrator)));
      }
    }
  } finally {
    isOver = true;
  }
  const crashed = await crashes;
  await Promise.all([alone, beside].map(({ child }) => stop(child)));
  const [list, call] = [median(took.beside.lists), median(took.beside.calls)];
  const [listAlone, callAlone] = [median(took.alone.lists), median(took.alone.calls)];
  return {
    name: 'neighbours',
    ran: `${GOOD} good servers, with and without a dead one, one that takes 30 s to start and one that crashed ${crashed} times meanwhile; in turns, ${ROUNDS} clients that connect and list, ${CALLS} calls after each; medians`,
    rows: [
      row('tools/list of a new client beside bad servers', 'ms', list, ['limit', 100], within),
      row('tools/list of a new client beside bad servers', 'ms', list, ['without', listAlone], atMost(1.5)),
      row('call beside bad servers', 'ms', call, ['without', callAlone], atMost(1.2)),
    ],
    figures: [
      ['tools/list without', 'ms', listAlone],
      ['tools/list beside', 'ms', list],
      ['call without', 'ms', callAlone],
      ['call beside', 'ms', call],
    ],
  };
}

async function timed(work) {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

function ask({ url, token }, path, body, headers = {}) {
  return fetch(url + path, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      ...headers,
    },
    body: JSON.stringify(body),
  });
}

/** A modern client needs no handshake: its first request is the list. */
async function listAnew(orchestrator) {
  const version = '2026-07-28';
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': version,
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta } };
  const accept = 'application/json, text/event-stream';
  const headers = { accept, 'mcp-protocol-version': version, 'mcp-method': 'tools/list' };
  const text = await (await ask(orchestrator, '/mcp', message, headers)).text();
  const listed = text.split('__echo"').length - 1;
  if (listed < GOOD)
    throw new Error(`tools/list has the tools of ${listed} good servers: ${text.slice(0, 200)}`);
}

async function echo(orchestrator) {
  const response = await ask(orchestrator, '/api/tools/mcp/good3/echo', { text: 'x' });
  const { result } = await response.json();
  if (result !== 'x') throw new Error(`echo answered ${result}.`);
}

async function crashOnAndOn(orchestrator, isOver) {
  let crashed = 0;
  for (; !isOver(); crashed++) {
    const session = { 'x-session-id': 'crasher' };
    await (await ask(orchestrator, '/api/tools/mcp/crashing/crash', {}, session)).text();
  }
  return crashed;
}
