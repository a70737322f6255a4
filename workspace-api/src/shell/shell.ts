import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { AppError, messageOf } from '@mcpbridge/shared/errors.js';
import type { Guard } from '@mcpbridge/shared/folder-guard.js';
import { Places } from '../places.js';
import type { WorkspaceRoot } from '../root/workspace-root.js';
import { Cgroups } from '../sandbox/cgroups.js';
import { chooseMechanism } from '../sandbox/choose.js';
import { ORCHESTRATOR_PORT, type OrchestratorAddress } from '../sandbox/forward.js';
import { machinePaths } from '../sandbox/machine-paths.js';
import type { Launch, Mechanism, Started } from '../sandbox/sandbox.js';
import { SessionNetworks } from '../sandbox/session-networks.js';
import { Background, type BackgroundState } from './background.js';
import { Command, type CommandBounds, type CommandOutcome, type OnOutput } from './command.js';
import { commandEnvironment } from './environment.js';
import { orchestratorVariables } from './orchestrator-variables.js';
import { OwnFolder } from './own-folder.js';
import type { ShellSettings } from './shell-settings.js';
import { startInTime } from './start-in-time.js';

export interface CommandRequest {
  command: string;
  workingDirectory?: string;
  timeoutMs?: number;
  env?: Record<string, string>;
  stdin?: string;
  /** It may be given more to read while it runs. */
  interactive?: boolean;
  /** Bytes that are kept of each stream. */
  keptBytes?: number;
}

interface Parts {
  root: WorkspaceRoot;
  settings: ShellSettings;
  /** Where commands find the orchestrator that may; undefined: nowhere. */
  orchestrator: () => OrchestratorAddress | undefined;
}

const KEPT_BYTES = 256 * 1024;
const PRINTED_BYTES = 100 * 1000 * 1000;
const AT_ONCE = { ofSession: 16, ofAll: 64 };
const BACKGROUND_MS = 60 * 60_000;

/** Runs commands, each within the folders of its session and nothing else. */
export class Shell {
  private readonly places = new Places(AT_ONCE.ofSession, AT_ONCE.ofAll);
  private readonly background = new Background();
  private readonly running = new Set<{ sessionId: string; command: Command }>();
  private readonly networks: SessionNetworks;
  /** Those that somebody waits for, and may give more to read. */
  private readonly fed = new Map<string, { sessionId: string; command: Command }>();

  private constructor(
    private readonly parts: Parts,
    private readonly own: OwnFolder,
    private readonly cgroups: Cgroups | undefined,
    private readonly mechanism: Promise<Mechanism>,
  ) {
    // Whoever runs a command hears of it.
    mechanism.catch(() => undefined);
    this.networks = new SessionNetworks(parts.orchestrator);
  }

  /** Does not wait for the trial of the mechanisms; the first command does. */
  static async open(parts: Parts): Promise<Shell> {
    const { root, settings } = parts;
    const own = await OwnFolder.open(join(root.stateFolder, 'shell'));
    const cgroups = process.platform === 'linux' ? Cgroups.open() : undefined;
    const mechanism = chooseMechanism({
      wish: settings.sandbox,
      machine: machinePaths(settings.paths),
      cgroups,
      folder: own.path,
      orchestrator: parts.orchestrator,
      added: settings.paths,
    });
    return new Shell(parts, own, cgroups, mechanism);
  }

  /** For /health. */
  async state(): Promise<Record<string, unknown>> {
    try {
      const { name, reach, tree } = await this.mechanism;
      const { limits, timeoutMs } = this.parts.settings;
      return {
        available: true,
        sandbox: name,
        processes_held_by: tree,
        limits_by: this.cgroups ? 'cgroup' : 'rlimit',
        network: this.parts.orchestrator() ? reach : 'none',
        limits: { ...limits, timeoutMs },
      };
    } catch (thrown) {
      return { available: false, reason: messageOf(thrown) };
    }
  }

  /** Rejects only when the command could not be run; its own failure is an outcome. */
  async run(
    guard: Guard,
    request: CommandRequest,
    signal: AbortSignal,
    onOutput?: OnOutput,
    onStarted?: (id: string) => void,
  ): Promise<CommandOutcome> {
    const leave = await this.places.enter(guard.sessionId, signal);
    try {
      const command = await startInTime(this.start(guard, request, this.parts.settings.timeoutMs, onOutput));
      const cancel = () => command.end('cancelled');
      if (signal.aborted) cancel();
      else signal.addEventListener('abort', cancel, { once: true });
      const id = randomUUID();
      this.fed.set(id, { sessionId: guard.sessionId, command });
      onStarted?.(id);
      const outcome = await command.outcome;
      this.fed.delete(id);
      signal.removeEventListener('abort', cancel);
      return outcome;
    } finally {
      leave();
    }
  }

  async startInBackground(guard: Guard, request: CommandRequest): Promise<BackgroundState> {
    this.background.checkRoom(guard.sessionId);
    const command = await startInTime(this.start(guard, request, BACKGROUND_MS));
    return this.background.add(guard.sessionId, request.command, command);
  }

  /** @throws NOT_FOUND */
  feed({ sessionId }: Guard, id: string, text: string, isLast: boolean): void {
    const fed = this.fed.get(id);
    if (fed?.sessionId !== sessionId)
      throw new AppError('NOT_FOUND', `This session has no command "${id}" that reads on.`);
    fed.command.feed(text, isLast);
  }

  list({ sessionId }: Guard): BackgroundState[] {
    return this.background.list(sessionId);
  }

  look({ sessionId }: Guard, id: string): BackgroundState {
    return this.background.state(sessionId, id);
  }

  end({ sessionId }: Guard, id: string): Promise<BackgroundState> {
    return this.background.end(sessionId, id);
  }

  /** Everything of the session ends: what runs, its network, its temporary folder. */
  async endSession(sessionId: string): Promise<void> {
    this.places.refuseWaiting(sessionId, new AppError('CALL_CANCELLED', 'The session was ended.'));
    const mine = [...this.running].filter((one) => one.sessionId === sessionId);
    for (const { command } of mine) command.end('cancelled');
    await Promise.all(mine.map(({ command }) => command.outcome));
    await this.background.endSession(sessionId);
    await this.networks.endSession(sessionId);
    await this.own.endSession(sessionId);
  }

  async close(): Promise<void> {
    const all = [...this.running];
    for (const { command } of all) command.end('cancelled');
    await Promise.all(all.map(({ command }) => command.outcome));
    await this.networks.close();
    await this.mechanism.then((mechanism) => mechanism.close()).catch(() => undefined);
    await this.cgroups?.close();
    await this.own.close();
  }

  private async start(
    guard: Guard,
    request: CommandRequest,
    usualMs: number,
    onOutput?: OnOutput,
  ): Promise<Command> {
    const mechanism = await this.mechanism;
    const launch = await this.launchOf(guard, request, mechanism);
    const bounds: CommandBounds = {
      timeoutMs: request.timeoutMs ?? usualMs,
      keptBytes: request.keptBytes ?? KEPT_BYTES,
      printedBytes: PRINTED_BYTES,
    };
    const started = await this.startIn(mechanism, launch, guard.sessionId);
    const command = new Command(started, bounds, onOutput);
    const one = { sessionId: guard.sessionId, command };
    this.running.add(one);
    void command.outcome.then(() => this.running.delete(one));
    return command;
  }

  private startIn(mechanism: Mechanism, launch: Launch, sessionId: string): Promise<Started> {
    if (launch.address === undefined || mechanism.reach !== 'namespace') return mechanism.start(launch);
    return this.networks.within(sessionId, (network) => mechanism.start({ ...launch, network }));
  }

  private async launchOf(guard: Guard, request: CommandRequest, mechanism: Mechanism): Promise<Launch> {
    const { root, settings } = this.parts;
    const { command, workingDirectory, env = {}, stdin, interactive = false } = request;
    const folders = await root.foldersOf(guard);
    const cwd =
      workingDirectory === undefined ? folders.home : await this.workingDirectory(guard, workingDirectory);
    const address = guard.network === 'orchestrator' ? this.addressFor(mechanism) : undefined;
    const session = { ...guard.env, ...orchestratorVariables(address, guard) };
    return {
      argv: ['/bin/sh', '-c', command],
      cwd,
      env: commandEnvironment(env, session),
      stdin: stdin === undefined && !interactive ? undefined : { text: stdin ?? '', more: interactive },
      confinement: { ...folders, scratch: await this.own.scratch(guard.sessionId) },
      limits: settings.limits,
      network: undefined,
      address,
    };
  }

  private async workingDirectory(guard: Guard, given: string): Promise<string> {
    const { real } = await this.parts.root.resolve(guard, given, 'list');
    return real;
  }

  /** As it is seen from within the command. @throws SANDBOX_UNAVAILABLE where there is no way, with what to set */
  private addressFor({ name, reach }: Mechanism): string {
    const orchestrator = this.parts.orchestrator();
    if (!orchestrator || reach === 'none') {
      const why = orchestrator
        ? `${name} needs the program "nsenter" (util-linux) for that`
        : 'this workspace was not told where that is: set MCP_API_URL for it';
      throw new AppError(
        'SANDBOX_UNAVAILABLE',
        `The policy of the session lets its commands reach the orchestrator, but ${why}.`,
      );
    }
    const { host, port } = reach === 'direct' ? orchestrator : { host: '127.0.0.1', port: ORCHESTRATOR_PORT };
    return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  }
}
