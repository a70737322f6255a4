import type { BridgeTool } from '@mcpbridge/shared/bridge-tools.js';
import {
  isObject,
  isRequest,
  type JsonObject,
  type RpcId,
  type RpcRequest,
} from '@mcpbridge/shared/json-rpc.js';
import { claimedVersion, metaOf } from '@mcpbridge/shared/protocol.js';
import { traceInMeta } from '@mcpbridge/shared/trace-context.js';
import { type Placed, Underway } from '@mcpbridge/shared/underway.js';
import type { BridgeLog } from './bridge-log.js';
import { startCallTimer } from './call-timer.js';
import type { ClientPipe } from './client-pipe.js';
import type { Executor } from './executor.js';
import { BridgeFailure, bridgeFailure, failureResult } from './failure.js';
import { answerWithoutHttp, complete, isSpoken } from './listed-answers.js';
import { startProgress } from './progress.js';
import type { ReadyFile } from './ready-file.js';
import type { Executed } from './reply.js';
import type { BridgeSettings } from './settings.js';
import { Stop } from './stop.js';

type Request = RpcRequest & JsonObject;

interface RunningCall extends Placed {
  id: RpcId;
  stop: Stop;
}

/** An MCP server whose tools are those of `MCP_TOOLS`: answers all by itself, except calls. */
export class ListedBridge {
  private readonly tools: ReadonlyMap<string, BridgeTool>;
  private readonly running = new Underway<RunningCall>();
  private executor: Promise<Executor> | undefined;

  constructor(
    private readonly settings: BridgeSettings,
    tools: readonly BridgeTool[],
    private readonly client: ClientPipe,
    private readonly readyFile: ReadyFile,
    private readonly log: BridgeLog,
  ) {
    this.tools = new Map(tools.map((tool) => [tool.definition.name, tool]));
  }

  handle(message: JsonObject): void {
    if (isRequest(message)) this.answer(message);
    else if (message.method === 'notifications/cancelled') this.cancel(message);
  }

  private answer(request: Request): void {
    const { id, method } = request;
    const version = claimedVersion(request);
    if (method === 'tools/call' && isSpoken(version)) {
      void this.call(request, version !== undefined);
      return;
    }
    const tools = [...this.tools.values()].map((tool) => tool.definition);
    const answer = answerWithoutHttp(request, version, tools, this.settings.instructions);
    this.client.send({ jsonrpc: '2.0', id, ...answer });
    if (method === 'tools/list') this.readyFile.write();
  }

  private async call(request: Request, modern: boolean): Promise<void> {
    const { id } = request;
    const stop = new Stop();
    const running: RunningCall = { id, stop, place: 0 };
    this.running.add(running);
    const started = performance.now();
    const stopTimer = startCallTimer(stop, this.settings.toolTimeoutMs);
    const stopProgress = startProgress(metaOf(request)?.progressToken, this.client);
    const executed = await this.execute(request, stop);
    stopTimer();
    stopProgress();
    this.running.delete(running);
    if (this.log.isKept) {
      const took = (performance.now() - started).toFixed(1);
      this.log.note(
        `tools/call ${request.params?.name} ${id}: ${executed ? 'answered' : 'cancelled'}, ${took} ms`,
      );
    }
    if (executed) this.client.sendText(answerText(id, executed, modern));
  }

  /** Answers undefined when the client has cancelled the call, which then gets no answer. */
  private async execute(request: Request, stop: Stop): Promise<Executed | undefined> {
    try {
      const { tool, args } = this.resolve(request);
      const executor = await this.reachExecutor();
      return await executor.call(tool, args, stop, traceInMeta(metaOf(request)));
    } catch (thrown) {
      const reason: unknown = stop.isFired ? stop.reason : thrown;
      if (reason === CANCELLED) return undefined;
      const failure = reason instanceof BridgeFailure ? reason : bridgeFailure('INTERNAL', String(reason));
      return { result: failureResult(failure.failure) };
    }
  }

  private resolve({ params }: Request): { tool: BridgeTool; args: JsonObject } {
    const name = String(params?.name);
    const tool = this.tools.get(name);
    if (!tool) {
      const known = [...this.tools.keys()].slice(0, 30).join(', ');
      throw bridgeFailure('UNKNOWN_TOOL', `There is no tool "${name}" here. There are: ${known}.`);
    }
    const args = params?.arguments ?? {};
    if (!isObject(args)) {
      throw bridgeFailure('INVALID_ARGUMENTS', `The arguments of "${name}" must be an object.`);
    }
    return { tool, args };
  }

  /** Loaded at the first call: a bridge that is only asked for its tools never needs HTTP. */
  private reachExecutor(): Promise<Executor> {
    this.executor ??= import('./executor.js').then(({ Executor }) => new Executor(this.settings, this.log));
    return this.executor;
  }

  private cancel({ params }: JsonObject): void {
    const id = isObject(params) ? params.requestId : undefined;
    this.running.find((call) => call.id === id)?.stop.fire(CANCELLED);
  }
}

const CANCELLED = Symbol('the client has cancelled the call');

function answerText(id: RpcId, { result, json }: Executed, modern: boolean): string {
  const fits = !modern || 'resultType' in result;
  const text =
    json !== undefined && fits
      ? json.replace(/[\r\n]+/g, ' ')
      : JSON.stringify(complete(!fits, result).result);
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${text}}`;
}
