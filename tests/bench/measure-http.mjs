// The HTTP endpoints under wrk: ours and the peers' gateways, the same bare server behind each.
import { createJob, measure, warmUp } from './http-load.mjs';
import { peersUsed } from './roads.mjs';
import { bestRounds, inRounds, isFaster } from './rounds.mjs';
import { atLeast, row } from './table.mjs';

const PROTOCOL = '2025-11-25';

export async function http({ orchestrator, gateways, quietGateway }) {
  const auth = { authorization: `Bearer ${orchestrator.token}` };
  const ours = [
    await mcpJob('ours /mcp', `${orchestrator.url}/mcp`, 'bare__echo', auth),
    executeJob('ours /api/mcp/execute', `${orchestrator.url}/api/mcp/execute`, auth),
  ];
  const peers = [];
  for (const { name, url } of gateways) peers.push(await mcpJob(`${name} /mcp`, url, 'echo', {}));
  const all = [...ours, ...peers, await mcpJob(`${quietGateway.name} /mcp`, quietGateway.url, 'echo', {})];
  for (const job of all) await warmUp(job, 2);
  const seen = bestRounds(await inRounds(15, all, (job) => measure(job, 1)), isFaster);
  const rate = ({ name }) => seen(name, 'perSecond');
  const best = peers.reduce((a, b) => (rate(a) > rate(b) ? a : b));
  return {
    name: 'http',
    ran: `wrk, 16 connections, tools/call echo in one session, 1 s in turns, after 2 s in which each answer was checked; the best of 15 rounds; peers: ${peersUsed.slice(1).join(', ')}, stateful`,
    rows: ours.map((job) =>
      row(`16 connections, ${job.name}`, 'calls/s', rate(job), [best.name, rate(best)], atLeast(8)),
    ),
    figures: all.flatMap((job) => [
      [job.name, 'calls/s', rate(job)],
      [`${job.name} p50`, 'ms', seen(job.name, 'p50')],
      [`${job.name} p99`, 'ms', seen(job.name, 'p99')],
    ]),
  };
}

/** A legacy session is opened before the measuring, as an HTTP client does it. */
async function mcpJob(name, url, tool, auth) {
  const accept = { accept: 'application/json, text/event-stream' };
  const post = (headers, body) =>
    fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...accept, ...auth, ...headers },
      body: JSON.stringify({ jsonrpc: '2.0', ...body }),
    });
  const clientInfo = { name: 'bench', version: '1.0.0' };
  const params = { protocolVersion: PROTOCOL, capabilities: {}, clientInfo };
  const answer = await post({}, { id: 0, method: 'initialize', params });
  const text = await answer.text();
  const session = answer.headers.get('mcp-session-id');
  if (!answer.ok || !session)
    throw new Error(`${name} opened no session: ${answer.status} ${text.slice(0, 500)}`);
  const headers = { 'mcp-session-id': session, 'mcp-protocol-version': PROTOCOL };
  await (await post(headers, { method: 'notifications/initialized' })).text();
  return createJob({
    name,
    url,
    headers: { ...accept, ...auth, ...headers },
    bodyOf: (number) =>
      `{"jsonrpc":"2.0","id":${number},"method":"tools/call","params":{"name":"${tool}","arguments":{"text":"t${number}"}}}`,
    expects: '"text":"t1',
  });
}

function executeJob(name, url, auth) {
  return createJob({
    name,
    url,
    headers: { ...auth, 'x-session-id': 'bench-http' },
    bodyOf: (number) => `{"server_name":"bare","tool_name":"echo","arguments":{"text":"t${number}"}}`,
    expects: '"text":"t1',
  });
}
