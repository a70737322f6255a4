import type { BridgeTool } from '@mcpbridge/shared/bridge-tools.js';
import type { JsonObject } from '@mcpbridge/shared/json-rpc.js';
import type { TraceContext } from '@mcpbridge/shared/trace-context.js';
import { HEADER, WHOLE_RESULT } from '@mcpbridge/shared/wire.js';
import { BrokenOff, collect, type RawHeaders } from './attempt.js';
import type { BridgeLog } from './bridge-log.js';
import { type Answer, Connection } from './connection.js';
import { BridgeFailure, bridgeFailure, readRefusal } from './failure.js';
import { type Executed, readReply } from './reply.js';
import { withResends } from './resend.js';
import type { BridgeSettings } from './settings.js';
import { OutputFolder, spillLargeText, TEXT_LIMIT } from './spill.js';
import type { Stop } from './stop.js';

const CALL_HEADERS: RawHeaders = [
  'Content-Type',
  'application/json',
  'Accept',
  `${WHOLE_RESULT}, application/json`,
];

/** What answers `POST …/tools/…`: the orchestrator, or an app's own local server. */
export class Executor {
  private readonly connection: Connection;
  private readonly output: OutputFolder;

  constructor(
    private readonly settings: BridgeSettings,
    log: BridgeLog,
  ) {
    // The given path, with `/api` or without, is part of the tool's path; the connection adds none.
    this.connection = new Connection({ ...settings, base: new URL(settings.base.origin) }, log);
    this.output = new OutputFolder(settings.outputFolder);
  }

  /** Rejects with BridgeFailure when the call was not carried out, or nobody knows. */
  async call(
    tool: BridgeTool,
    args: JsonObject,
    stop: Stop,
    trace: TraceContext | undefined = this.settings.trace,
  ): Promise<Executed> {
    const { name } = tool.definition;
    try {
      return await withResends(
        (broken) => !stop.isFired && !broken.whole,
        () => this.post(tool, JSON.stringify(args), stop, trace),
      );
    } catch (error) {
      if (!(error instanceof BrokenOff) || stop.isFired) throw error;
      throw bridgeFailure('CONNECTION_LOST', `${this.broke(name, error)} ${fate(error)}`);
    }
  }

  private async post(
    tool: BridgeTool,
    body: string,
    stop: Stop,
    trace: TraceContext | undefined,
  ): Promise<Executed> {
    const answer = await this.connection.send({
      method: 'POST',
      path: this.settings.toolsPath + toolPath(tool),
      headers: trace ? [...this.headers(tool), ...Object.entries(trace).flat()] : this.headers(tool),
      body,
      stop,
    });
    if (answer.refusal) throw this.refusal(answer, answer.refusal);
    const bytes = Buffer.concat(await collect(answer.stream));
    const executed = readReply(bytes.toString('utf8'));
    // A text is never longer than the JSON that it came in.
    if (bytes.length <= TEXT_LIMIT) return executed;
    const result = spillLargeText(executed.result, tool.definition.name, this.output);
    return result === executed.result ? executed : { result };
  }

  private headers(tool: BridgeTool): RawHeaders {
    const { virtualScope } = this.settings;
    return tool.type === 'virtual' && virtualScope
      ? [...CALL_HEADERS, HEADER.virtualScope, virtualScope]
      : CALL_HEADERS;
  }

  private refusal(answer: Answer, refusal: Buffer): BridgeFailure {
    if (answer.status === 401) return this.connection.refused();
    return new BridgeFailure(readRefusal(answer.status, refusal));
  }

  private broke(name: string, error: BrokenOff): string {
    return `The connection to ${this.settings.base.origin} broke during "${name}" (${error.message}).`;
  }
}

function fate({ whole }: BrokenOff): string {
  if (!whole) return 'It was not carried out.';
  return 'It may or may not have been carried out: check before doing it again.';
}

function toolPath({ definition, server, type }: BridgeTool): string {
  const name = encodeURIComponent(definition.name);
  return type === 'mcp' ? `/tools/mcp/${encodeURIComponent(server)}/${name}` : `/tools/${type}/${name}`;
}
