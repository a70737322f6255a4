import { AppError } from '@mcpbridge/shared/errors.js';
import { HEADER } from '@mcpbridge/shared/wire.js';
import { type Exchange, type HotResponse, header } from '../http/exchange.js';
import { ResumableStream, readEventId } from './resumable.js';

/** A client may come back for the answers that ended last, for so many milliseconds. */
const KEPT_ENDED = 16;
const KEPT_MS = 60_000;
/** The revision in which clients learned of events without data. */
const PRIMED_SINCE = '2025-11-25';

/** The streams of one legacy client, by the ids that their events carry. */
export class ClientStreams {
  /** For what comes unasked; kept until the client opens it. */
  readonly unasked: ResumableStream;
  private readonly streams = new Map<string, ResumableStream>();
  private opened = 0;

  constructor(
    private readonly clientId: string,
    private readonly version: string,
  ) {
    this.unasked = this.create('unasked', this.version >= PRIMED_SINCE);
  }

  /** May the streams of its answer begin with an event without data? Slow answers are opened as streams then. */
  primes({ request }: Exchange): boolean {
    const said = header(request, HEADER.mcpVersion) ?? this.version;
    return this.version >= PRIMED_SINCE && said >= PRIMED_SINCE;
  }

  /**
   * The client's GET: what comes unasked goes there from now on, or what came after the event that it names.
   * @throws INVALID_REQUEST when that event is not of a stream that is still kept.
   */
  open(response: HotResponse, lastEventId?: string): void {
    if (lastEventId === undefined) {
      this.unasked.connect(response);
      return;
    }
    const event = readEventId(lastEventId);
    const stream = event && this.streams.get(event.stream);
    if (!stream) {
      throw new AppError(
        'INVALID_REQUEST',
        `There is nothing to resume after event ${JSON.stringify(lastEventId)}: its stream is not kept any more.`,
      );
    }
    stream.connect(response, event.seq);
  }

  /** The stream of one answer; `onAbandoned` when its connection broke and the client does not come back for it. */
  openAnswer(response: HotResponse, primed: boolean, onAbandoned: () => void): ResumableStream {
    this.forgetOld();
    const stream = this.create(`a${++this.opened}`, primed, onAbandoned);
    stream.connect(response);
    return stream;
  }

  /** Forgets the answers that ended long ago, or before many others. */
  forgetOld(): void {
    const before = Date.now() - KEPT_MS;
    const ended = [...this.streams.values()].filter(({ endedAt }) => endedAt !== undefined);
    for (const [index, { id, endedAt = 0 }] of ended.entries()) {
      if (endedAt < before || index < ended.length - KEPT_ENDED) this.streams.delete(id);
    }
  }

  end(): void {
    for (const stream of this.streams.values()) stream.end();
  }

  private create(id: string, primed: boolean, onAbandoned?: () => void): ResumableStream {
    const headers = { [HEADER.mcpSession]: this.clientId };
    const stream = new ResumableStream(id, { headers, primed, onAbandoned });
    this.streams.set(id, stream);
    return stream;
  }
}
