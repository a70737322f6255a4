import type { Pool } from 'undici';

/** A workspace that does not say so long that it lives is taken for one that never will. */
const ANSWERS_WITHIN_MS = 10_000;

/** Whether the workspace still answers at all. What it was asked may take hours; this may not. */
export class Pulse {
  private asked: Promise<boolean> | undefined;
  private pool: Promise<Pool> | undefined;

  /** `openPool` answers connections of its own: others may all be in use. */
  constructor(
    private readonly openPool: () => Promise<Pool>,
    private readonly path: string,
  ) {}

  /** Asks once for all who want to know at the same time. */
  beats(): Promise<boolean> {
    this.asked ??= this.ask().finally(() => {
      this.asked = undefined;
    });
    return this.asked;
  }

  async close(): Promise<void> {
    await (await this.pool)?.destroy();
  }

  private async ask(): Promise<boolean> {
    this.pool ??= this.openPool();
    try {
      const signal = AbortSignal.timeout(ANSWERS_WITHIN_MS);
      const { body } = await (await this.pool).request({ method: 'GET', path: this.path, signal });
      await body.dump();
      return true;
    } catch {
      // Gone or frozen: whoever asked for something of it is told.
      return false;
    }
  }
}
