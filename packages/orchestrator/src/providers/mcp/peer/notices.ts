import { AppError } from '@mcpbridge/shared/errors.js';
import { isObject, type JsonObject, type RpcId, type RpcNotification } from '@mcpbridge/shared/json-rpc.js';
import { META } from '@mcpbridge/shared/protocol.js';
import { Flow } from '../bounds/flow.js';
import { UNASKED_PER_SECOND, type Unasked } from '../bounds/unasked.js';
import type { During, Origin } from './origin.js';
import type { Questions } from './questions.js';

/** Units a second (see Allowance) of the progress of one call. */
const PROGRESS_PER_SECOND = 2000;

/** A request that waits for its answer, and may hear of its progress meanwhile. */
export interface Hearing {
  readonly origin: Origin | undefined;
  /** From its first progress on. */
  progress?: Flow<JsonObject>;
}

/** The notifications of one upstream: each goes to the request that it is about, the others, as many as may be, to `tell`. */
export class Notices {
  private readonly others: Flow<{ notification: RpcNotification; during: During }>;

  constructor(
    private readonly unasked: Unasked,
    private readonly requests: { get(id: unknown): Hearing | undefined },
    private readonly questions: Questions,
    tell: (notification: RpcNotification, during: During) => void,
  ) {
    this.others = new Flow(
      UNASKED_PER_SECOND,
      ({ notification, during }) => tell(notification, during),
      () =>
        unasked.over(
          'notifications',
          `It sends more than ${UNASKED_PER_SECOND} notifications a second; of those that say the same the latest arrives, the others are dropped.`,
        ),
    );
  }

  hear(method: string, params: JsonObject | undefined, bytes: number, during: During): void {
    if (method === 'notifications/progress') {
      const { progressToken, ...progress } = params ?? {};
      const waiting = this.requests.get(progressToken);
      if (waiting?.origin?.listener?.progress) this.progressOf(waiting).push(progress, bytes, 'latest');
      else this.unasked.noise(bytes);
    } else if (method === 'notifications/cancelled') {
      const { requestId, ...notice } = params ?? {};
      const reason = new AppError('CALL_CANCELLED', 'The server withdrew its question.', {
        details: { notice },
      });
      if (isToken(requestId)) this.questions.withdraw(requestId, reason);
    } else if (method === 'notifications/subscriptions/acknowledged') {
      this.requests.get(subscriptionOf(params))?.origin?.listener?.agreed?.(params?.notifications);
    } else {
      const notification: RpcNotification = params
        ? { jsonrpc: '2.0', method, params }
        : { jsonrpc: '2.0', method };
      this.others.push({ notification, during }, bytes, subjectOf(notification));
    }
  }

  /** Forgets what is held back. */
  stop(): void {
    this.others.stop();
  }

  private progressOf(waiting: Hearing): Flow<JsonObject> {
    waiting.progress ??= new Flow(
      PROGRESS_PER_SECOND,
      (progress) => waiting.origin?.listener?.progress?.(progress),
      () =>
        this.unasked.over(
          'progress',
          `It tells more than ${PROGRESS_PER_SECOND} steps of one call a second; the latest arrives.`,
        ),
    );
    return waiting.progress;
  }
}

/** The request of the subscription that it is told on. */
export function subscriptionOf(params: unknown): unknown {
  const meta = isObject(params) ? params._meta : undefined;
  return isObject(meta) ? meta[META.subscriptionId] : undefined;
}

const isToken = (value: unknown): value is RpcId => typeof value === 'number' || typeof value === 'string';

/** What says only that something is another now, and of what: the latest says it all. */
function subjectOf({ method, params }: RpcNotification): string | undefined {
  if (method.endsWith('/list_changed')) return method;
  return method === 'notifications/resources/updated' ? `${method} ${params?.uri}` : undefined;
}
