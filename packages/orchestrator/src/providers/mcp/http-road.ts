import { TransformStream } from 'node:stream/web';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '@mcpbridge/shared/errors.js';
import { Agent, fetch, type Response as UndiciResponse } from 'undici';

/** Between two parts of a stream that floods, which take about a fifth of this. */
const REST_MS = 50;
const EVENT_ENDS = ['\n\n', '\n\r\n'];

/**
 * The sockets of one connection, and a limit for what comes over them. This is the one module that knows undici.
 * There are no time limits: a call may be silent for an hour, and its deadline is set elsewhere.
 */
export class HttpRoad {
  private readonly agent = new Agent({ headersTimeout: 0, bodyTimeout: 0 });

  constructor(
    private readonly server: string,
    private readonly maxBytes: number,
    /** Hears of a message that is too large, with the id of the request that it came upon. */
    private readonly refuse: (id: number | undefined, error: AppError) => void,
    /** The server sends more of its own accord than is taken: its streams are read slowly. */
    private readonly isFlooding: () => boolean,
  ) {}

  async fetch(url: string | URL, init: RequestInit = {}): Promise<Response> {
    const { method = 'GET', signal, redirect } = init;
    const body = typeof init.body === 'string' ? init.body : null;
    const response = await fetch(url, {
      method,
      body,
      headers: [...new Headers(init.headers)],
      dispatcher: this.agent,
      ...(signal ? { signal } : {}),
      ...(redirect ? { redirect } : {}),
    });
    return this.bounded(response, body);
  }

  close(): Promise<void> {
    return this.agent.destroy();
  }

  private bounded(response: UndiciResponse, request: string | null): Response {
    const { body, status, statusText, headers } = response;
    const announced = Number(headers.get('content-length') ?? Number.NaN);
    if (!body || announced <= this.maxBytes) return response as Response;
    const isEventStream = headers.get('content-type')?.startsWith('text/event-stream') ?? false;
    const limit = limited(this.maxBytes, isEventStream, () => this.tooLarge(request), this.isFlooding);
    return new Response(body.pipeThrough(limit), { status, statusText, headers: [...headers] });
  }

  private tooLarge(request: string | null): AppError {
    const limit = this.maxBytes;
    const sentence = `Server "${this.server}" sent a message of more than ${limit} bytes.`;
    const error = new AppError('RESULT_TOO_LARGE', sentence, { details: { limit } });
    const id = /^\{"jsonrpc":"2\.0","id":(\d+)/.exec(request ?? '')?.[1];
    this.refuse(id === undefined ? undefined : Number(id), error);
    return error;
  }
}

/** Breaks off at a message of more than `limit` bytes: a JSON body is one; an event stream, which may go on for days, has many. */
function limited(limit: number, isEventStream: boolean, tooLarge: () => Error, isFlooding: () => boolean) {
  let bytes = 0;
  return new TransformStream<Uint8Array, Uint8Array>({
    async transform(chunk, controller) {
      if (isFlooding()) await sleep(REST_MS);
      const end = isEventStream ? lastEventEnd(chunk) : -1;
      bytes = end === -1 ? bytes + chunk.length : chunk.length - end;
      if (bytes > limit) controller.error(tooLarge());
      else controller.enqueue(chunk);
    },
  });
}

function lastEventEnd(chunk: Uint8Array): number {
  const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  return Math.max(...EVENT_ENDS.map((end) => bytes.lastIndexOf(end)));
}
