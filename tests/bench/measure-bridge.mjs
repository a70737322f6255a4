// The bridge as a process: how long its start takes, and what memory it holds.
import { setTimeout as delay } from 'node:timers/promises';
import { residentMegabytes } from './processes.mjs';
import { direct, MODES, open, peersUsed, throughPeers, throughUs } from './roads.mjs';
import { inRounds, medians } from './rounds.mjs';
import { median } from './stdio-client.mjs';
import { atLeast, atMost, atMostMore, row } from './table.mjs';

export async function start({ orchestrator, gateways }) {
  const remote = throughPeers(gateways.find((gateway) => gateway.name === 'mcp-proxy'));
  const ours = MODES.map((mode) => throughUs(orchestrator, mode));
  const times = new Map([direct, ...ours, remote].map(({ name }) => [name, []]));
  for (let round = 0; round <= 30; round++) {
    for (const road of round % 3 === 1 || round === 0 ? [direct, ...ours, remote] : [direct, ...ours]) {
      const { client, took } = await open(road);
      await client.close();
      if (round > 0) times.get(road.name).push(took); // the first start of each reads its files from the disk
    }
  }
  const took = (road) => median(times.get(road.name));
  const against = (road, reference, rule) =>
    row(`start to tools/list, ${road.name}`, 'ms', took(road), [reference.name, took(reference)], rule);
  return {
    name: 'start',
    ran: `spawn, initialize, tools/list; 30 starts each, 10 of ${peersUsed[0]} before a running mcp-proxy; medians`,
    rows: [
      against(ours[0], direct, atMost(1.2)),
      against(ours[1], direct, atMost(1.5)),
      against(ours[0], remote, atLeast(8)),
      against(ours[1], remote, atLeast(8)),
    ],
    figures: [direct, ...ours, remote].map((road) => [road.name, 'ms', took(road)]),
  };
}

export async function memory({ orchestrator, gateways }) {
  const ours = MODES.map((mode) => throughUs(orchestrator, mode));
  const peers = gateways.map(throughPeers);
  const seen = medians(await inRounds(3, [direct, ...ours], memoryOf, 1));
  const seenOfPeers = medians(await inRounds(1, peers, memoryOf));
  const against = (what, field, { name }, rule) =>
    row(`${what}, ${name}`, 'MB', seen(name, field), ['bare', seen('bare', field)], rule);
  const rows = ours.flatMap((road) => [
    against('memory idle', 'idle', road, atMostMore(5)),
    against('memory after 4,000 calls', 'after', road, atMostMore(12)),
  ]);
  const figuresOf = (of) => (road) => [
    [`${road.name} idle`, 'MB', of(road.name, 'idle')],
    [`${road.name} after 4,000 calls`, 'MB', of(road.name, 'after')],
  ];
  const figures = [...[direct, ...ours].flatMap(figuresOf(seen)), ...peers.flatMap(figuresOf(seenOfPeers))];
  const ran =
    'resident set of the process that the client spawned, after tools/list and after 4,000 echo calls, 32 in flight; medians of 3, peers once';
  return { name: 'memory', ran, rows, figures };
}

async function memoryOf(road) {
  const { client } = await open(road);
  await delay(300); // what the start left running has ended
  const idle = residentMegabytes(client.child.pid);
  await client.echo({ calls: 4000, inFlight: 32 });
  const after = residentMegabytes(client.child.pid);
  await client.close();
  return { idle, after };
}
