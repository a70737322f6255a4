import { Agent } from 'node:http';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import Docker from 'dockerode';
import type { DockerTransportEntry } from '../../../config/server-entry.js';
import type { EngineAddress } from './address.js';

/** How a container's program ended. */
export interface ContainerEnd {
  exitCode: number;
  /** The kernel ended it because it reached its memory limit. */
  outOfMemory: boolean;
}

/** For the engine's small tasks; starting a container may have to wait for its disk. */
const ANSWER_MS = 10_000;
const LOOK_EVERY_MS = 50;
const END_LOOKS = 20;
const MAX_PROCESSES = 512;
/** Nothing that serves tools needs to make devices, forge packets or write the audit log. */
const DROPPED = ['MKNOD', 'NET_RAW', 'AUDIT_WRITE'];

/** What we ask of a container engine, Docker's or Podman's. This is the one module that knows dockerode. */
export class Engine {
  private readonly docker: Docker;

  constructor(readonly address: EngineAddress) {
    // All that the library would otherwise read from the environment is said here. A connection for each request:
    // one that was kept may be dead by the time of the next.
    const unsaid = { socketPath: undefined, host: undefined, port: undefined, timeout: undefined };
    const options = { protocol: 'http' as const, agent: new Agent({ keepAlive: false }) };
    this.docker = new Docker({ ...unsaid, ...options, ...address });
  }

  async create(name: string, entry: DockerTransportEntry, labels: Record<string, string>): Promise<string> {
    const { memoryBytes, cpus, network, mounts } = entry;
    const container = await this.docker.createContainer({
      name,
      Image: entry.image,
      ...(entry.command.length > 0 ? { Cmd: entry.command } : {}),
      Env: Object.entries(entry.env).map(([variable, value]) => `${variable}=${value}`),
      Labels: labels,
      AttachStdin: true,
      AttachStdout: true,
      AttachStderr: true,
      OpenStdin: true,
      // The end of our connection ends its stdin, and so the server, also when we are killed.
      StdinOnce: true,
      Tty: false,
      HostConfig: {
        Mounts: mounts.map(({ kind, source, target, readOnly }) => ({
          Type: kind,
          Source: source,
          Target: target,
          ReadOnly: readOnly,
        })),
        // As much with swap as without: a limit that is one.
        ...(memoryBytes === undefined ? {} : { Memory: memoryBytes, MemorySwap: memoryBytes }),
        ...(cpus === undefined ? {} : { NanoCpus: Math.round(cpus * 1e9) }),
        ...(network === undefined ? {} : { NetworkMode: network }),
        PidsLimit: MAX_PROCESSES,
        CapDrop: DROPPED,
        SecurityOpt: ['no-new-privileges'],
        // What it says is ours; the engine would keep every message on its disk.
        LogConfig: { Type: 'none', Config: {} },
      },
    });
    return container.id;
  }

  /**
   * stdin one way, framed stdout and stderr the other. Not by the library's own `attach`, which sends its options once
   * more as a body: Podman hands such a body to the container's stdin.
   */
  attach(id: string): Promise<Duplex> {
    return new Promise((resolve, reject) => {
      this.docker.modem.dial(
        {
          path: `/containers/${id}/attach?`,
          method: 'POST',
          isStream: true,
          hijack: true,
          openStdin: true,
          file: Buffer.alloc(0),
          options: { stream: true, stdin: true, stdout: true, stderr: true },
          statusCodes: { 101: true, 200: true, 404: 'no such container', 500: 'server error' },
        },
        (error, stream) => (error ? reject(error) : resolve(stream as Duplex)),
      );
    });
  }

  async start(id: string): Promise<void> {
    await this.docker.getContainer(id).start();
  }

  /** How its program ended, once its output has; undefined when it only closed that and goes on. */
  async endOf(id: string): Promise<ContainerEnd | undefined> {
    const container = this.docker.getContainer(id);
    // Not by the engine's own wait, which Podman answers up to a second late.
    for (let look = 0; look < END_LOOKS; look += 1) {
      const { State } = await container.inspect({ abortSignal: AbortSignal.timeout(ANSWER_MS) });
      if (!State.Running) return { exitCode: State.ExitCode, outOfMemory: State.OOMKilled };
      await sleep(LOOK_EVERY_MS);
    }
    return undefined;
  }

  async signal(id: string, signal: NodeJS.Signals): Promise<void> {
    await this.docker.getContainer(id).kill({ signal, abortSignal: AbortSignal.timeout(ANSWER_MS) });
  }

  /** Whatever its state. */
  async remove(id: string): Promise<void> {
    const abortSignal = AbortSignal.timeout(ANSWER_MS);
    await this.docker.getContainer(id).remove({ force: true, v: true, abortSignal });
  }

  async labelled(label: string): Promise<{ id: string; labels: Record<string, string> }[]> {
    const list = await this.docker.listContainers({
      all: true,
      filters: { label: [label] },
      abortSignal: AbortSignal.timeout(ANSWER_MS),
    });
    return list.map(({ Id, Labels }) => ({ id: Id, labels: Labels }));
  }
}
