// npm run bench [-- --only start,http] [-- --json]: DESIGN.md section 8, measured beside the peers in one run.
// Leaves with 0 when every budget holds, 1 when one is missed, 2 when something needed is missing.
import { cpus, loadavg, totalmem } from 'node:os';
import { parseArgs } from 'node:util';
import { missingWrk } from './http-load.mjs';
import { memory, start } from './measure-bridge.mjs';
import { big, inFlight, sequential } from './measure-calls.mjs';
import { catalog } from './measure-catalog.mjs';
import { http } from './measure-http.mjs';
import { neighbours } from './measure-neighbours.mjs';
import { shell } from './measure-shell.mjs';
import { missingBuild, startOrchestrator } from './ours.mjs';
import { installPeers, startMcpProxy, startQuietSupergateway, startSupergateway } from './peers.mjs';
import { killAll, stopAll } from './processes.mjs';
import { printTable } from './table.mjs';

const measurements = {
  start,
  memory,
  sequential,
  'in-flight': inFlight,
  http,
  big,
  catalog,
  neighbours,
  shell,
};

let leaving;
process.on('exit', killAll);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => leave(130));

const { values } = parseArgs({
  options: { only: { type: 'string' }, json: { type: 'boolean', default: false } },
});
const wanted = values.only?.split(',') ?? Object.keys(measurements);
try {
  await leave(await bench());
} catch (error) {
  if (!leaving) console.error(error); // else it is what the end broke
  await leave(2);
}

async function bench() {
  const lacking = await whatIsLacking();
  if (lacking) {
    console.error(lacking);
    return 2;
  }
  await installPeers();
  const machine = describeMachine();
  const started = {
    orchestrator: await startOrchestrator(),
    gateways: [await startSupergateway(), await startMcpProxy()],
    quietGateway: wanted.includes('http') ? await startQuietSupergateway() : undefined,
  };
  const groups = [];
  try {
    for (const name of wanted) {
      console.error(`${name} …`);
      groups.push(await measurements[name](started));
    }
  } finally {
    if (values.json) console.log(JSON.stringify({ machine, groups }, null, 2));
    else printTable(groups, machine);
  }
  return groups.every(({ rows }) => rows.every(({ ok }) => ok)) ? 0 : 1;
}

async function whatIsLacking() {
  const unknown = wanted.filter((name) => !(name in measurements));
  if (unknown.length > 0)
    return `No row "${unknown.join('", "')}"; there are ${Object.keys(measurements).join(', ')}.`;
  if (process.platform !== 'linux')
    return 'The bench reads memory and processes from /proc: run it on Linux.';
  if (missingBuild().length > 0) return `Not built: ${missingBuild().join(', ')}. Run npm run build.`;
  return wanted.includes('http') ? missingWrk() : undefined;
}

/** The load tells a reader whether the machine was busy with other things. */
function describeMachine() {
  const memory = Math.round(totalmem() / 1024 ** 3);
  const load = loadavg()[0].toFixed(1);
  return `Node ${process.version}, ${process.platform} ${process.arch}, ${cpus().length} cores, ${memory} GiB; load before the run ${load}.`;
}

/** The first reason to leave is the one that counts. */
function leave(code) {
  leaving ??= stopAll().then(() => process.exit(code));
  return leaving;
}
