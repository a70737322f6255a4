import { randomUUID } from 'node:crypto';
import type { ConfiguredServer } from '../config/server-entry.js';
import type { DiscoveryOutcome, Fleet } from './fleet.js';

/** A server's start takes a core for half a second; more at once would only make all of them late. */
const AT_ONCE = 8;
const KEPT_JOBS = 20;

export interface DiscoveryJob {
  job_id: string;
  status: 'running' | 'done';
  started_at: string;
  finished_at?: string;
  /** In the order in which the servers were done. */
  servers: DiscoveryOutcome[];
}

/** Listings of all servers on request, side by side, each with its own outcome. */
export class Discovery {
  private readonly jobs = new Map<string, DiscoveryJob>();

  constructor(private readonly fleet: Fleet) {}

  start(): DiscoveryJob {
    const job: DiscoveryJob = {
      job_id: randomUUID(),
      status: 'running',
      started_at: new Date().toISOString(),
      servers: [],
    };
    this.jobs.set(job.job_id, job);
    for (const id of [...this.jobs.keys()].slice(0, -KEPT_JOBS)) this.jobs.delete(id);
    void this.carryOut(job);
    return job;
  }

  job(id: string): DiscoveryJob | undefined {
    return this.jobs.get(id);
  }

  /** The latest one, of this process. */
  get last(): DiscoveryJob | undefined {
    return [...this.jobs.values()].at(-1);
  }

  private async carryOut(job: DiscoveryJob): Promise<void> {
    const waiting: ConfiguredServer[] = [...this.fleet.servers];
    const work = async () => {
      for (let server = waiting.shift(); server; server = waiting.shift())
        job.servers.push(await this.fleet.discover(server));
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    job.status = 'done';
    job.finished_at = new Date().toISOString();
  }
}
