import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from './processes.js';

/** What the features server noted in its file, line by line. */
export class Trace {
  constructor(readonly file: string) {}

  static async make(): Promise<Trace> {
    return new Trace(join(await mkdtemp(join(tmpdir(), 'mcpbridge-trace-')), 'trace'));
  }

  get lines(): string[] {
    return existsSync(this.file) ? readFileSync(this.file, 'utf8').split('\n').filter(Boolean) : [];
  }

  count(start: string): number {
    return this.lines.filter((line) => line.startsWith(start)).length;
  }

  /** Waits until so many lines begin so. */
  async saw(start: string, times = 1): Promise<void> {
    await eventually(`the server noted "${start}" ${times} times`, () => this.count(start) >= times);
  }

  /** Process ids of the server's processes, in the order of their start. */
  get pids(): number[] {
    return this.lines.filter((line) => line.startsWith('pid ')).map((line) => Number(line.slice(4)));
  }
}
