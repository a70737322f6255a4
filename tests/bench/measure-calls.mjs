// Calls from a client on stdio to the bare server: one after the other, many at once, and one with a large result.
import { direct, MODES, open, peersUsed, throughPeers, throughUs } from './roads.mjs';
import { bestRounds, inRounds, isFaster } from './rounds.mjs';
import { atLeast, atMost, row } from './table.mjs';

/** Not 10 MiB: mcp-proxy drops the connection at that. */
const TEN_MEGABYTES = 10_000_000;

export async function sequential(bench) {
  // The compilers of all these programs are busy for the first thousands of calls, which take a while one by one.
  const calls = await echoOnAllRoads(bench, { forMs: 1000, inFlight: 1 }, 15);
  const best = calls.peers.reduce((a, b) => (calls.of(a.name, 'p50') < calls.of(b.name, 'p50') ? a : b)).name;
  const against = (name, reference, rule) =>
    row(
      `sequential call p50, ${name}`,
      'ms',
      calls.of(name, 'p50'),
      [reference, calls.of(reference, 'p50')],
      rule,
    );
  const rows = calls.ours.flatMap(({ name }) => [
    against(name, 'bare', atMost(6)),
    against(name, best, atLeast(5)),
  ]);
  const ran = `echo, one call after the other for 1 s in turns, after 1 s of warming up; p50 of the best of 15 rounds; peers: ${peersUsed.join(', ')}`;
  const figures = calls.all.map(({ name }) => [name, 'ms', calls.of(name, 'p50')]);
  return { name: 'sequential', ran, rows, figures };
}

export async function inFlight(bench) {
  const calls = await echoOnAllRoads(bench, { forMs: 1500, inFlight: 32 }, 7);
  const best = calls.peers.reduce((a, b) =>
    calls.of(a.name, 'perSecond') > calls.of(b.name, 'perSecond') ? a : b,
  ).name;
  const rows = calls.ours.flatMap(({ name }) => {
    const rate = calls.of(name, 'perSecond');
    const spread = ['its p50', calls.of(name, 'p50')];
    return [
      row(`32 calls in flight, ${name}`, 'calls/s', rate, [best, calls.of(best, 'perSecond')], atLeast(15)),
      row(`32 calls in flight p99, ${name}`, 'ms', calls.of(name, 'p99'), spread, atMost(8)),
    ];
  });
  const figures = calls.all.map(({ name }) => [name, 'calls/s', calls.of(name, 'perSecond')]);
  const ran = `echo, 32 calls in flight for 1.5 s in turns, after 1 s of warming up; the best of 7 rounds; peers: ${peersUsed.join(', ')}`;
  return { name: 'in-flight', ran, rows, figures };
}

export async function big({ orchestrator, gateways }) {
  // Listed mode puts so large a text into a file for its model, as it should, and has nothing to compare.
  const ours = throughUs(orchestrator, 'transparent');
  const peers = gateways.map(throughPeers);
  const clients = await openAll([direct, ours, ...peers]);
  const fetchOne = async ({ name }) => ({ took: await clients.get(name).big(TEN_MEGABYTES) });
  const isQuicker = (a, b) => a.took < b.took;
  const seen = bestRounds(await inRounds(7, [direct, ours], fetchOne, 1), isQuicker);
  const seenOfPeers = bestRounds(await inRounds(2, peers, fetchOne, 1), isQuicker);
  await closeAll(clients);
  const bare = ['bare', seen('bare', 'took')];
  const rows = [row(`10 MB result, ${ours.name}`, 'ms', seen(ours.name, 'took'), bare, atMost(3))];
  const figures = [direct, ours].map(({ name }) => [name, 'ms', seen(name, 'took')]);
  figures.push(...peers.map(({ name }) => [name, 'ms', seenOfPeers(name, 'took')]));
  const ran = `one text of 10 MB, parsed by the client; the best of 7 after one not counted, of 2 for ${peersUsed.join(', ')}`;
  return { name: 'big', ran, rows, figures };
}

/** All roads stay open side by side; the idle ones cost the one at work nothing. */
async function echoOnAllRoads({ orchestrator, gateways }, work, rounds) {
  const ours = MODES.map((mode) => throughUs(orchestrator, mode));
  const peers = gateways.map(throughPeers);
  const all = [direct, ...ours, ...peers];
  const clients = await openAll(all);
  for (const client of clients.values()) await client.echo({ ...work, forMs: 1000 });
  const results = await inRounds(rounds, all, (road) => clients.get(road.name).echo(work));
  await closeAll(clients);
  return { ours, peers, all, of: bestRounds(results, isFaster) };
}

async function openAll(roads) {
  const clients = new Map();
  for (const road of roads) clients.set(road.name, (await open(road)).client);
  return clients;
}

const closeAll = (clients) => Promise.all([...clients.values()].map((client) => client.close()));
