import type { RunningOrchestrator } from '../../support/orchestrator.js';
import { BridgeCaller, type Caller, HttpCaller } from './callers.js';

const PAUSE_MS = 100;

/** A healthy session that calls all the time; whatever goes wrong with a call of it is a complaint. */
export class Watch {
  readonly complaints: string[] = [];
  calls = 0;
  private resting: Promise<void> | undefined;
  private goOn: (() => void) | undefined;
  private rested: (() => void) | undefined;

  constructor(
    private readonly name: string,
    private readonly caller: Caller,
    private readonly server: string,
  ) {
    void this.run();
  }

  static async all(running: RunningOrchestrator): Promise<Watch[]> {
    return [
      new Watch('a bridge', await BridgeCaller.start(running), 'stdio'),
      new Watch('an HTTP caller', new HttpCaller(running), 'stdio'),
      new Watch('a caller of a shared server', new HttpCaller(running), 'calm_shared'),
      new Watch('a caller of an HTTP upstream', new HttpCaller(running), 'calm_http'),
    ];
  }

  /** Resolves when no call of it runs. */
  pause(): Promise<void> {
    this.resting ??= new Promise((resolve) => {
      this.goOn = resolve;
    });
    return new Promise((resolve) => {
      this.rested = resolve;
    });
  }

  resume(): void {
    this.goOn?.();
    this.resting = undefined;
  }

  private async run(): Promise<void> {
    for (;;) {
      if (this.resting) {
        this.rested?.();
        await this.resting;
      }
      const text = `call ${++this.calls}`;
      const outcome = await this.caller.call(this.server, 'echo', { text });
      if (outcome.code !== undefined || outcome.text !== text) {
        this.complaints.push(`${this.name} got ${outcome.code ?? ''} "${outcome.text}" for "${text}"`);
      }
      await new Promise((next) => setTimeout(next, PAUSE_MS).unref());
    }
  }
}
