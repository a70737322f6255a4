import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestEngine } from '../../docker/support/engine.js';
import { type Census, descendantsOf, probed, takeCensus } from '../../support/census.js';
import { type RunningOrchestrator, startOrchestrator } from '../../support/orchestrator.js';
import { eventually, isAlive, root } from '../../support/processes.js';
import { Remote } from './remote.js';
import { Watch } from './watch.js';

/** Every call of these servers ends by then. */
export const DEADLINE_MS = 2500;
/** After whatever happened, this long until nothing of it is left. */
export const GONE_WITHIN_MS = 5000;

export const badServer = (more: object = {}) => ({
  command: process.execPath,
  args: [join(root, 'tests/faults/support/server.mjs')],
  timeout: DEADLINE_MS,
  ...more,
});

/** The servers of one lane, in which one fault happens at a time: what is common to sessions is its own. */
export interface Lane {
  index: number;
  shared: string;
  http: string;
  sse: string;
  remote: Remote;
}

/** One orchestrator in which faults happen side by side, and sessions that must not notice any of it. */
export class House {
  private baseline: Census | undefined;

  private constructor(
    readonly running: RunningOrchestrator,
    readonly lanes: readonly Lane[],
    readonly engine: TestEngine | undefined,
    private readonly watches: readonly Watch[],
    private readonly calm: Remote,
    private readonly probe: string,
  ) {}

  static async open(laneCount: number, engine: TestEngine | undefined): Promise<House> {
    const probe = join(mkdtempSync(join(tmpdir(), 'mcpbridge-faults-')), 'probe');
    const calm = await Remote.start();
    const servers: Record<string, object> = {
      stdio: badServer(),
      stubborn: badServer({ env: { IGNORE_SIGTERM: '1' } }),
      calm_shared: badServer({ isolation: 'shared' }),
      calm_http: { url: calm.url('mcp'), timeout: DEADLINE_MS },
    };
    const lanes: Lane[] = [];
    for (let index = 0; index < laneCount; index++) {
      const remote = await Remote.start();
      const lane = { index, shared: `shared${index}`, http: `http${index}`, sse: `sse${index}`, remote };
      const times = { timeout: DEADLINE_MS, startTimeout: 1500 };
      servers[lane.shared] = badServer({ isolation: 'shared' });
      servers[lane.http] = { url: remote.url('mcp'), ...times };
      servers[lane.sse] = { url: remote.url('sse'), ...times };
      lanes.push(lane);
    }
    if (engine) servers.box = { docker: { image: 'mcpbridge-fixtures' }, timeout: DEADLINE_MS };
    const env = { ...probed(probe), ...(engine ? { DOCKER_HOST: engine.host } : {}) };
    const running = await startOrchestrator({ servers, env });
    const watches = await Watch.all(running);
    const house = new House(running, lanes, engine, watches, calm, probe);
    await house.settle();
    return house;
  }

  /** What everyone else met meanwhile that they should not have; empty is right. */
  complaints(): string[] {
    return this.watches.flatMap((watch) => watch.complaints.splice(0));
  }

  get watchedCalls(): number {
    return this.watches.reduce((sum, watch) => sum + watch.calls, 0);
  }

  /** Waits until it holds no more than in its first quiet moment; answers what it still holds too much after 5 s. */
  async leftovers(): Promise<string[]> {
    await Promise.all(this.watches.map((watch) => watch.pause()));
    const deadline = performance.now() + GONE_WITHIN_MS;
    let left: string[];
    do {
      await new Promise((next) => setTimeout(next, 100));
      left = this.compare(await takeCensus(this.running, this.probe));
      left.push(...(await this.containersLeft()));
    } while (left.length > 0 && performance.now() < deadline);
    for (const watch of this.watches) watch.resume();
    return left;
  }

  /** Answers which processes outlived it. */
  async close(): Promise<string[]> {
    await Promise.all(this.watches.map((watch) => watch.pause()));
    const pids = descendantsOf(this.running.process.pid ?? 0);
    await this.running.stop();
    const left = await eventually('its processes are gone', () => !pids.some(isAlive), GONE_WITHIN_MS).then(
      () => [],
      (error) => [String(error)],
    );
    await Promise.all([this.calm, ...this.lanes.map((lane) => lane.remote)].map((remote) => remote.stop()));
    return left;
  }

  /** Its first quiet moment, when what was opened for its start alone is closed again. */
  private async settle(): Promise<void> {
    await Promise.all(this.watches.map((watch) => watch.pause()));
    await new Promise((done) => setTimeout(done, GONE_WITHIN_MS + 1000));
    this.baseline = await takeCensus(this.running, this.probe);
    for (const watch of this.watches) watch.resume();
  }

  private compare(now: Census): string[] {
    const kinds = ['processes', 'sockets', 'timers'] as const;
    return kinds
      .filter((kind) => now[kind] > (this.baseline?.[kind] ?? 0))
      .map((kind) => `${now[kind]} ${kind} where ${this.baseline?.[kind]} were before`);
  }

  /** One is there for the lists. */
  private async containersLeft(): Promise<string[]> {
    const count = (await this.engine?.containers())?.length ?? 0;
    return count > 1 ? [`${count} containers where 1 was before`] : [];
  }
}
