import { TransformStream } from 'node:stream/web';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '@mcpbridge/shared/errors.js';
import type { Outgoing } from '../../../outgoing/outgoing.js';
import { Allowance } from '../bounds/allowance.js';

/** Between two parts of a stream that floods, which take about a fifth of this. */
const REST_MS = 50;
/** Messages are far fewer; the rest is what no message is, such as comments. */
const EVENTS_PER_SECOND = 20_000;
const EVENT_ENDS = ['\n\n', '\n\r\n'];

type Limit = TransformStream<Uint8Array, Uint8Array>;

/**
 * The sockets of one connection, and a limit for what comes over them. There are no time limits: a call may be
 * silent for an hour, and its deadline is set elsewhere.
 */
export class HttpRoad {
  private readonly events = new Allowance(EVENTS_PER_SECOND);
  private passed = 0;
  /** Why its address is not called: the SDK's SSE transport keeps no more of an error than its text. */
  refusal: AppError | undefined;

  constructor(
    private readonly server: string,
    private readonly outgoing: Outgoing,
    private readonly maxBytes: number,
    /** Hears of a message that is too large, with the id of the request that it came upon. */
    private readonly refuse: (id: number | undefined, error: AppError) => void,
    /** The server sends more of its own accord than is taken: its streams are read slowly. */
    private readonly isFlooding: () => boolean,
    /** There are more events than messages can be. */
    private readonly onNoise: () => void,
    /** The stream of that request's answer ended as it should; the answer may be on its way up to whoever waits for it. */
    private readonly onStreamEnd: (id: number) => void,
  ) {}

  /** Bytes of event streams that came since it was last asked. */
  takePassed(): number {
    const { passed } = this;
    this.passed = 0;
    return passed;
  }

  async fetch(url: string | URL, init: RequestInit = {}): Promise<Response> {
    const response = await this.outgoing.fetch(url, init).catch((error) => {
      if (error instanceof AppError) this.refusal = error;
      throw error;
    });
    return this.bounded(response, typeof init.body === 'string' ? init.body : null);
  }

  close(): Promise<void> {
    return this.outgoing.close();
  }

  private bounded(response: Response, request: string | null): Response {
    const { body, status, statusText, headers } = response;
    const isEventStream = headers.get('content-type')?.startsWith('text/event-stream') ?? false;
    const announced = Number(headers.get('content-length') ?? Number.NaN);
    if (!body || (!isEventStream && announced <= this.maxBytes)) return response;
    const tooLarge = () => this.tooLarge(request);
    const limit = isEventStream ? this.eventStream(tooLarge, requestId(request)) : this.oneMessage(tooLarge);
    return new Response(body.pipeThrough(limit), { status, statusText, headers: [...headers] });
  }

  private oneMessage(tooLarge: () => AppError): Limit {
    let bytes = 0;
    return new TransformStream({
      transform: (chunk, controller) => {
        bytes += chunk.length;
        if (bytes > this.maxBytes) controller.error(tooLarge());
        else controller.enqueue(chunk);
      },
    });
  }

  /** It may go on for days; each of its messages has the limit. */
  private eventStream(tooLarge: () => AppError, id: number | undefined): Limit {
    let bytes = 0;
    return new TransformStream({
      transform: async (chunk, controller) => {
        if (this.isFlooding()) await sleep(REST_MS);
        const { count, end } = eventsIn(chunk);
        if (count > 0 && !this.events.allows(count * 1024)) this.onNoise();
        bytes = end === -1 ? bytes + chunk.length : chunk.length - end;
        this.passed += chunk.length;
        if (bytes > this.maxBytes) controller.error(tooLarge());
        else controller.enqueue(chunk);
      },
      flush: () => {
        if (id !== undefined) this.onStreamEnd(id);
      },
    });
  }

  private tooLarge(request: string | null): AppError {
    const limit = this.maxBytes;
    const sentence = `Server "${this.server}" sent a message of more than ${limit} bytes.`;
    const error = new AppError('RESULT_TOO_LARGE', sentence, { details: { limit } });
    this.refuse(requestId(request), error);
    return error;
  }
}

/** Of a request of ours, which begins so. */
function requestId(body: string | null): number | undefined {
  const id = /^\{"jsonrpc":"2\.0","id":(\d+)/.exec(body ?? '')?.[1];
  return id === undefined ? undefined : Number(id);
}

/** How many events end in it, and where the last one does; -1: none. */
function eventsIn(chunk: Uint8Array): { count: number; end: number } {
  const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  let [count, end] = [0, -1];
  for (const mark of EVENT_ENDS) {
    for (let at = bytes.indexOf(mark); at !== -1; at = bytes.indexOf(mark, at + mark.length)) {
      count += 1;
      end = Math.max(end, at);
    }
  }
  return { count, end };
}
