import { Cancel, type CancelSignal } from '@mcpbridge/shared/cancel.js';
import { type AppError, messageOf } from '@mcpbridge/shared/errors.js';
import { MAX_DEPTH } from '@mcpbridge/shared/json-extent.js';
import {
  type JsonObject,
  RPC,
  type RpcError,
  RpcFailure,
  type RpcId,
  type RpcRequest,
  type RpcResponse,
} from '@mcpbridge/shared/json-rpc.js';
import { UNASKED_PER_SECOND, type Unasked } from '../bounds/unasked.js';
import type { During } from './origin.js';

/** That wait for their answers at once. */
const MAX_OPEN = 100;

/** The questions of one upstream that are being answered, as many as may be. */
export class Questions {
  private readonly open = new Map<RpcId, Cancel>();

  /** What `ask` answers, or throws, goes back. `ping` is answered here. */
  constructor(
    private readonly unasked: Unasked,
    private readonly ask: (
      method: string,
      params: JsonObject | undefined,
      signal: CancelSignal,
      during: During,
    ) => Promise<unknown>,
    private readonly send: (answer: RpcResponse) => void,
  ) {}

  get size(): number {
    return this.open.size;
  }

  take(question: RpcRequest, bytes: number, isTooDeep: boolean, during: During): void {
    const { unasked } = this;
    if (!unasked.allows(bytes)) {
      unasked.over(
        'questions',
        `It asks more than ${UNASKED_PER_SECOND} questions a second; the rest is refused.`,
      );
      this.refuse(question.id, 'This is more than can be asked in a second.');
    } else if (isTooDeep) this.refuse(question.id, `JSON of more than ${MAX_DEPTH} levels is not taken.`);
    else if (this.open.size >= MAX_OPEN) {
      unasked.bounded('questions', `It asks more than ${MAX_OPEN} questions at once; the rest is refused.`);
      this.refuse(question.id, `${MAX_OPEN} questions are waiting for their answers.`);
    } else void this.answer(question, during);
  }

  withdraw(id: RpcId, reason: AppError): void {
    this.open.get(id)?.abort(reason);
  }

  withdrawAll(reason: AppError): void {
    for (const controller of this.open.values()) controller.abort(reason);
  }

  private refuse(id: RpcId, message: string): void {
    this.send({ jsonrpc: '2.0', id, error: { code: RPC.internalError, message } });
  }

  private async answer({ id, method, params }: RpcRequest, during: During): Promise<void> {
    const controller = new Cancel();
    this.open.set(id, controller);
    try {
      const result = method === 'ping' ? {} : await this.ask(method, params, controller.signal, during);
      this.reply(controller.signal, { id, result });
    } catch (error) {
      this.reply(controller.signal, { id, error: toRpcError(error) });
    } finally {
      this.open.delete(id);
    }
  }

  /** A question that was withdrawn gets no answer. */
  private reply(withdrawn: CancelSignal, answer: Omit<RpcResponse, 'jsonrpc'>): void {
    if (!withdrawn.aborted) this.send({ jsonrpc: '2.0', ...answer });
  }
}

function toRpcError(error: unknown): RpcError {
  return error instanceof RpcFailure
    ? error.toError()
    : { code: RPC.internalError, message: messageOf(error) };
}
