import { randomUUID } from 'node:crypto';
import type { RunningOrchestrator } from '../../support/orchestrator.js';
import { ended } from '../../support/processes.js';
import { startBridge } from '../../support/road.js';
import type { StdioPeer } from '../../support/stdio-peer.js';

/** What a call came to. */
export interface Outcome {
  /** Of the tool's answer, or the failure's sentence. */
  text: string;
  /** Of a failure; `UNREACHABLE` when the caller's own connection broke. */
  code?: string;
  ms: number;
}

/** Somebody with a session of its own. */
export interface Caller {
  call(server: string, tool: string, args?: object): Promise<Outcome>;
  /** Goes in an orderly way, and its session with it. */
  leave(): Promise<void>;
}

/** A program that uses the HTTP API. */
export class HttpCaller implements Caller {
  readonly session = `fault-${randomUUID()}`;

  constructor(private readonly running: RunningOrchestrator) {}

  async call(server: string, tool: string, args: object = {}): Promise<Outcome> {
    const started = performance.now();
    const done = (rest: Omit<Outcome, 'ms'>) => ({ ...rest, ms: performance.now() - started });
    try {
      const response = await fetch(`${this.running.url}/tools/mcp/${server}/${tool}`, {
        method: 'POST',
        headers: this.running.headers(this.session),
        body: JSON.stringify(args),
      });
      const body = (await response.json()) as { result?: string; error?: { code: string; message: string } };
      return done(
        body.error ? { text: body.error.message, code: body.error.code } : { text: body.result ?? '' },
      );
    } catch (error) {
      return done({ text: String(error), code: 'UNREACHABLE' });
    }
  }

  async leave(): Promise<void> {
    await fetch(`${this.running.url}/api/sessions/${this.session}`, {
      method: 'DELETE',
      headers: this.running.headers(),
    });
  }
}

/** A client behind a bridge. */
export class BridgeCaller implements Caller {
  private constructor(readonly bridge: StdioPeer) {}

  static async start(running: RunningOrchestrator): Promise<BridgeCaller> {
    const bridge = startBridge(running, { MCP_CONNECT_TIMEOUT: '20s' });
    await bridge.initialize();
    return new BridgeCaller(bridge);
  }

  async call(server: string, tool: string, args: object = {}): Promise<Outcome> {
    const started = performance.now();
    const { result, error } = await this.bridge.callTool(`${server}__${tool}`, args);
    const ms = performance.now() - started;
    const text = result?.content?.[0]?.text ?? error?.message ?? '';
    if (!error && result?.isError !== true) return { text, ms };
    return { text, ms, code: /\[code: (\w+),/.exec(text)?.[1] ?? `JSON-RPC ${error?.code}` };
  }

  async leave(): Promise<void> {
    this.bridge.close();
    await ended(this.bridge.process);
  }
}
