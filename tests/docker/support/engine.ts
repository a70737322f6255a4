import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ended, eventually } from '../../support/processes.js';
import { importBare, importImage, importMachine } from './image.js';
import { installEngines } from './install.js';

export const IMAGE = 'mcpbridge-fixtures';

export interface ListedContainer {
  Id: string;
  State: string;
  Labels: Record<string, string>;
}

interface InspectedContainer {
  HostConfig: Record<string, unknown>;
  Mounts: { Destination: string; RW: boolean }[];
}

/** A container engine of this test alone, with the image IMAGE. */
export class TestEngine {
  private constructor(
    private readonly folder: string,
    private readonly process: ChildProcess,
  ) {}

  static async start(kind: 'docker' | 'podman'): Promise<TestEngine> {
    await installEngines();
    const folder = await mkdtemp(join(tmpdir(), 'mcpbridge-engine-'));
    const child = await (kind === 'docker' ? startDockerd(folder) : startPodman(folder));
    const engine = new TestEngine(folder, child);
    try {
      await eventually(`${kind} answers`, () => engine.answers(child), 30_000);
      await importImage(engine.socket, IMAGE);
      return engine;
    } catch (error) {
      await engine.stop();
      throw error;
    }
  }

  get socket(): string {
    return join(this.folder, 'engine.sock');
  }

  /** A folder that goes with it, for what an orchestrator keeps in its home. */
  get home(): string {
    return this.folder;
  }

  /** For DOCKER_HOST. */
  get host(): string {
    return `unix://${this.socket}`;
  }

  async containers(): Promise<ListedContainer[]> {
    return JSON.parse(await this.ask('GET', '/containers/json?all=1'));
  }

  async inspect(id: string): Promise<InspectedContainer> {
    return JSON.parse(await this.ask('GET', `/containers/${id}/json`));
  }

  async kill(id: string): Promise<void> {
    await this.ask('POST', `/containers/${id}/kill?signal=SIGKILL`);
  }

  /** Of a container's first process, as this machine sees it. */
  async pid(id: string): Promise<number> {
    return JSON.parse(await this.ask('GET', `/containers/${id}/json`)).State.Pid;
  }

  /** The image MACHINE_IMAGE. */
  importMachine(): Promise<void> {
    return importMachine(this.socket);
  }

  /** An image with one empty file in it and no entry point. */
  importBare(name: string): Promise<void> {
    return importBare(this.socket, name);
  }

  async stop(): Promise<void> {
    const left = await this.containers().catch(() => []);
    for (const { Id } of left) await this.ask('DELETE', `/containers/${Id}?force=1`);
    this.process.kill('SIGTERM');
    await ended(this.process);
    const mounts = readFileSync('/proc/mounts', 'utf8').split('\n');
    for (const mount of mounts.map((line) => line.split(' ')[1] ?? '').reverse()) {
      if (mount.startsWith(this.folder)) execFileSync('umount', [mount]);
    }
    await rm(this.folder, { recursive: true, force: true });
  }

  private async answers(child: ChildProcess): Promise<boolean> {
    if (child.exitCode !== null) throw new Error(readFileSync(join(this.folder, 'log'), 'utf8'));
    return (await this.ask('GET', '/_ping').catch(() => '')) === 'OK';
  }

  private ask(method: string, path: string): Promise<string> {
    return new Promise((resolve, reject) => {
      request({ socketPath: this.socket, method, path, agent: false }, async (response) => {
        resolve((await response.toArray()).join(''));
      })
        .on('error', reject)
        .end();
    });
  }
}

/** Without networks of its own: it runs beside another engine, and in a container that may not make any. */
function startDockerd(folder: string): ChildProcess {
  const flags = {
    'data-root': join(folder, 'data'),
    'exec-root': join(folder, 'exec'),
    pidfile: join(folder, 'pid'),
    host: `unix://${join(folder, 'engine.sock')}`,
    bridge: 'none',
    'log-level': 'warn',
  };
  const off = ['iptables', 'ip6tables', 'ip-forward', 'ip-masq'].map((name) => `--${name}=false`);
  return start(folder, 'dockerd', [
    ...Object.entries(flags).map(([name, value]) => `--${name}=${value}`),
    ...off,
  ]);
}

/** With runc, as crun refuses control groups of both versions; with limits that need no privilege to be set. */
async function startPodman(folder: string): Promise<ChildProcess> {
  const [containers, storage] = [join(folder, 'containers.conf'), join(folder, 'storage.conf')];
  await writeFile(
    containers,
    `[containers]
netns="host"
default_ulimits=["nofile=20000:20000","nproc=32768:32768"]
[engine]
runtime="runc"
cgroup_manager="cgroupfs"
events_logger="file"
`,
  );
  await writeFile(
    storage,
    `[storage]\ndriver="overlay"\ngraphroot="${folder}/graph"\nrunroot="${folder}/run"\n`,
  );
  const service = ['system', 'service', '--time=0', `unix://${join(folder, 'engine.sock')}`];
  return start(folder, 'podman', service, {
    CONTAINERS_CONF: containers,
    CONTAINERS_STORAGE_CONF: storage,
  });
}

function start(folder: string, program: string, args: string[], env: NodeJS.ProcessEnv = {}): ChildProcess {
  const script = 'log=$1; shift; exec "$@" >"$log" 2>&1';
  return spawn('/bin/sh', ['-c', script, 'sh', join(folder, 'log'), program, ...args], {
    // Podman's helper leaves a file in the folder that it is started in.
    cwd: folder,
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', HOME: folder, ...env },
    stdio: 'ignore',
  });
}
