import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmodSync, chownSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import type { BareWorkspace } from '../../support/describe-workspace-search.js';
import { freePort } from '../../support/free-port.js';
import { startOrchestrator } from '../../support/orchestrator.js';
import { ended, root } from '../../support/processes.js';
import type { OrchestratedWorkspace } from '../../support/workspaces.js';
import type { TestEngine } from './engine.js';
import { MACHINE_IMAGE, machineMounts, NODE_INSIDE } from './image.js';

const TOKEN = 'token-of-the-workspace';
/** As whom docker-compose.yml runs it. */
const USER = 1000;

interface Container extends BareWorkspace {
  id: string;
  process: ChildProcess;
}

/**
 * The built program as docker-compose.yml runs it: not as root, with nothing to write but its folder, under the engine's
 * own limits. Its folder has the same path inside as outside, its programs are this machine's.
 */
async function startContainer(
  engine: TestEngine,
  folder: string,
  env: Record<string, string>,
  mounts: string[] = [],
): Promise<Container> {
  const id = `workspace-${randomUUID()}`;
  const settings = { PORT: '0', WORKSPACE_DIR: folder, WORKSPACE_TOKEN: TOKEN, ...env };
  const docker = { PATH: process.env.PATH, DOCKER_HOST: engine.host };
  const child = spawn(
    'docker',
    [
      ...['run', '--rm', '--init', '--name', id, '--network', 'host', '--user', `${USER}:${USER}`],
      ...['--read-only', '--tmpfs', '/tmp', '--security-opt', 'no-new-privileges'],
      ...Object.entries(settings).flatMap(([name, value]) => ['-e', `${name}=${value}`]),
      ...[`${root}:/app:ro`, `${folder}:${folder}`, ...machineMounts(), ...mounts].flatMap((one) => [
        '-v',
        one,
      ]),
      ...[MACHINE_IMAGE, NODE_INSIDE, '/app/workspace-api/dist/main.js'],
    ],
    { env: docker, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const url = await new Promise<string>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`The workspace ended at its start with ${code}.`)));
    createInterface({ input: child.stdout }).on('line', (line) => {
      const [address] = /http:\/\/127\.0\.0\.1:\d+/.exec(line) ?? [];
      if (address) resolve(address);
    });
  });
  return {
    id,
    url,
    token: TOKEN,
    process: child,
    async stop() {
      if (child.exitCode === null) execFileSync('docker', ['stop', '-t', '5', id], { env: docker });
      await ended(child);
    },
  };
}

/** One in this folder, which it may write, as it may what tests put there; it sees `outside` as well. */
export function startInFolder(
  engine: TestEngine,
  folder: string,
  { env = {}, outside }: { env?: Record<string, string>; outside?: string },
): Promise<BareWorkspace> {
  give(folder);
  return startContainer(engine, folder, env, outside === undefined ? [] : [`${outside}:${outside}:ro`]);
}

/** One with an orchestrator before it, on this machine, that it knows of. */
export async function startInContainer(
  engine: TestEngine,
  env: Record<string, string> = {},
): Promise<OrchestratedWorkspace> {
  // Not below /tmp, which is a folder of its own inside.
  const [folder, beside] = [await makeFolder(), await makeFolder()];
  const port = await freePort();
  const orchestrator = { MCP_API_URL: `http://127.0.0.1:${port}` };
  const container = await startContainer(engine, folder, { ...orchestrator, ...env }, [
    `${beside}:${beside}`,
  ]);
  const running = await startOrchestrator({
    env: { PORT: String(port), WORKSPACE_URL: container.url, WORKSPACE_TOKEN: TOKEN },
  });
  return {
    running,
    folder,
    beside,
    ...pidsOf(await engine.pid(container.id)),
    kill: () => engine.kill(container.id),
    async stop() {
      await running.stop();
      await container.stop();
      for (const one of [folder, beside]) await rm(one, { recursive: true, force: true });
    },
  };
}

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp('/var/tmp/mcpbridge-workspace-');
  give(folder);
  return folder;
}

function give(folder: string): void {
  // What tests make in it is for whoever runs the workspace, too.
  process.umask(0);
  chownSync(folder, USER, USER);
  chmodSync(folder, 0o777);
}

/** Of the program, which is the child of the container's first process. */
function pidsOf(first: number): { pid: number; pidInside: number } {
  const pid = Number(readFileSync(`/proc/${first}/task/${first}/children`, 'utf8').trim().split(' ')[0]);
  const [, inside = ''] = /^NSpid:\s.*\s(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return { pid, pidInside: Number(inside) };
}
