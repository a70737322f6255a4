import { Cancel, type CancelSignal } from '@mcpbridge/shared/cancel.js';
import { AppError } from '@mcpbridge/shared/errors.js';
import { isObject } from '@mcpbridge/shared/json-rpc.js';
import type { Era } from '@mcpbridge/shared/protocol.js';
import type { ServerEntry } from '../../../config/server-entry.js';
import type { Log } from '../../../log.js';
import type { Caller, Opened } from '../../provider.js';
import type { Bounds } from '../bounds/bounds.js';
import { Connection } from '../connection/connection.js';
import { type Eras, shakeHands } from '../connection/handshake.js';
import { Routing } from '../connection/routing.js';
import type { SessionMemory } from '../connection/session-memory.js';
import type { Credentials } from '../credentials.js';
import { LineRing } from '../line-ring.js';
import { openTransport } from '../open-transport.js';
import { Peer } from '../peer/peer.js';
import type { Transport, TransportContext } from '../transport.js';
import { COMMON, type Queue } from './connections.js';
import type { ProcessPlaces } from './process-places.js';
import { Spares } from './spares.js';
import { StartLimit, startFailure, startTimeoutOf } from './start-limit.js';

const LAST_WORDS = 3;

interface OpenerOptions extends Omit<TransportContext, 'words' | 'credentials'> {
  /** What a connection of that principal carries; without one: the connection that belongs to nobody. */
  credentialsOf?(owner: string | undefined): Credentials | undefined;
  /** Takes every line that the server writes for people. */
  said: { push(line: string): void };
  places: ProcessPlaces;
  log: Log;
  bounds: Bounds;
}

/** What its server's provider hears of a connection. */
export interface ConnectionEvents {
  toolsChanged(sessionId: string | undefined): Promise<void>;
  /** It takes nothing new; false for one that was on its way out already. */
  spent(routing: Routing): boolean;
  /** It broke while it was in use. */
  lost(connection: Connection, reason: AppError): void;
  gone(routing: Routing): void;
  /** Its processes are on their way out. */
  leaving(ended: Promise<void>): Promise<void>;
  /** Does the server take calls? */
  isWanted(): boolean;
  /** How many more connections it may have now. */
  roomFor(): number;
}

/** A process, or an address, to which nothing has been said yet. */
interface Start {
  transport: Transport;
  peer: Peer;
  routing: Routing;
  words: LineRing;
  giveBack(): void;
  close(): Promise<void>;
  /** Whose credentials it carries. */
  owner: string | undefined;
  /** Once hands were shaken. */
  connection?: Connection;
}

/** Opens the connections to one server, each with a place among all processes, in an era that the server takes. */
export class Opener {
  /** What the latest connection was told. */
  about: Opened | undefined;
  /** Found out once, for the life of this configuration. */
  private readonly refusedEras = new Set<Era>();
  private readonly spares: Spares<Start>;
  /** As configured, or what was found at its address. */
  private transport: ServerEntry['transport'];

  constructor(
    private readonly entry: ServerEntry,
    private readonly options: OpenerOptions,
    private readonly events: ConnectionEvents,
  ) {
    this.transport = entry.transport;
    this.spares = new Spares({
      count: entry.isolation === 'session' ? (entry.warm ?? 0) : 0,
      log: options.log,
      start: () => this.startSpare(),
      isWanted: () => events.isWanted(),
    });
    options.places.join(this.spares);
  }

  /** Connects and shakes hands within the server's start time; rejects with PROVIDER_UNAVAILABLE and the reason. */
  async open(
    key: string,
    caller: Caller | undefined,
    memory: SessionMemory,
    over: CancelSignal,
    queue: Queue,
  ): Promise<Connection> {
    const spare = key === COMMON ? undefined : this.spares.take();
    const giveBack = spare?.giveBack ?? (await this.place(queue));
    const words = spare?.words ?? this.newWords();
    const limit = new StartLimit(this.entry, over);
    let start = spare;
    try {
      const owner = key === COMMON ? undefined : caller?.owner;
      start ??= await this.begin(words, giveBack, limit.signal, owner);
      // A shared connection is never one session's, also where it is one principal's.
      start.routing.caller = key === caller?.sessionId ? caller : undefined;
      const preferred = key === COMMON ? this.usualEra : (caller?.era ?? 'legacy');
      let connection: Connection;
      try {
        connection = await this.introduce(start, preferred, memory, limit.signal);
      } catch (error) {
        start = await this.beginOlder(start, error, limit.signal);
        connection = await this.introduce(start, 'legacy', memory, limit.signal);
      }
      this.spares.fill();
      return connection;
    } catch (error) {
      // There may be another server by the next time.
      this.transport = this.entry.transport;
      if (start) void start.close();
      else giveBack();
      throw startFailure(this.entry.id, error, words.lines);
    } finally {
      limit.lift();
    }
  }

  private async introduce(
    start: Start,
    preferred: Era,
    memory: SessionMemory,
    signal: CancelSignal,
  ): Promise<Connection> {
    const { peer, transport, routing } = start;
    const { id } = this.entry;
    const opened = await shakeHands(id, peer, transport, routing, signal, this.erasFor(preferred));
    start.connection = new Connection(id, peer, opened, routing, memory);
    this.about = opened;
    return start.connection;
  }

  /** As the specification has it: who refuses the first POST may be a server of the older HTTP with server-sent events. */
  private async beginOlder(refused: Start, refusal: unknown, signal: CancelSignal): Promise<Start> {
    const { transport } = this;
    if (transport.kind !== 'http' || !isRefusal(refusal)) throw refusal;
    void refused.close();
    this.transport = { ...transport, kind: 'sse' };
    try {
      const start = await this.begin(refused.words, refused.giveBack, signal, refused.owner);
      start.routing.caller = refused.routing.caller;
      return start;
    } catch {
      // It is none, so what it said at first counts.
      throw refusal;
    }
  }

  /** Ends the processes that wait for sessions. */
  endSpares(): Promise<void> {
    return this.spares.close();
  }

  close(): void {
    this.options.places.leave(this.spares);
  }

  private get isProcess(): boolean {
    const { kind } = this.entry.transport;
    return kind === 'stdio' || kind === 'docker';
  }

  private async place(queue: Queue): Promise<() => void> {
    if (!this.isProcess) return () => {};
    const { places } = this.options;
    const { id } = this.entry;
    if (!places.hasRoom) queue.noRoom = (late) => places.noRoom(id, 'the time that the call may take', late);
    try {
      return await places.take(id, startTimeoutOf(this.entry), queue.signal);
    } finally {
      queue.noRoom = undefined;
    }
  }

  private startSpare(): Promise<Start> | undefined {
    if (this.events.roomFor() <= this.spares.size) return undefined;
    const giveBack = this.isProcess ? this.options.places.takeFree() : undefined;
    if (!giveBack) return undefined;
    const limit = new StartLimit(this.entry, new Cancel().signal);
    return this.begin(this.newWords(), giveBack, limit.signal, undefined)
      .catch((error) => {
        giveBack();
        throw error;
      })
      .finally(() => limit.lift());
  }

  private newWords(): LineRing {
    return new LineRing(LAST_WORDS, this.options.said, this.options.hide);
  }

  private async begin(
    words: LineRing,
    giveBack: () => void,
    signal: CancelSignal,
    owner: string | undefined,
  ): Promise<Start> {
    const { entry, events, options } = this;
    const kept = { ...entry, transport: this.transport };
    const credentials = this.isProcess ? undefined : options.credentialsOf?.(owner);
    const transport = await openTransport(kept, { ...options, words, credentials }, signal);
    const routing = new Routing(entry.id, undefined, {
      toolsChanged: (from) => events.toolsChanged(from.caller?.sessionId),
      dropped: () =>
        options.log.debug(`Server "${entry.id}": a message that belongs to no call was dropped.`),
      bounded: (what, reason) => options.bounds.note(what, reason),
      spent: (from) => events.spent(from),
      closed: (from, reason) => {
        const { connection } = start;
        if (events.spent(from) && connection) events.lost(connection, reason);
        events.gone(from);
        this.spares.lost(start, reason);
        // Its processes may outlive it for a moment.
        void start.close();
      },
    });
    const close = () => events.leaving(transport.close().finally(giveBack));
    const peer = new Peer(transport, routing);
    const start: Start = { transport, peer, routing, words, giveBack, close, owner };
    return start;
  }

  /**
   * Of the connection that is nobody's. Over HTTP a legacy server refuses the question of the modern era at once; a
   * program on stdio may wait for it in vain, or end.
   */
  private get usualEra(): Era {
    return this.transport.kind === 'http' ? 'modern' : 'legacy';
  }

  private erasFor(preferred: Era): Eras {
    const both: Era[] = preferred === 'modern' ? ['modern', 'legacy'] : ['legacy', 'modern'];
    const order = both.filter((era) => !this.refusedEras.has(era));
    // A server that refused both may have been replaced by a better one.
    return { order: order.length > 0 ? order : both, refused: (era) => this.refusedEras.add(era) };
  }
}

/** A 4xx that says neither who is wanted nor when. */
function isRefusal(error: unknown): boolean {
  const status = error instanceof AppError && isObject(error.details) ? error.details.status : undefined;
  return (
    typeof status === 'number' && status >= 400 && status < 500 && ![401, 403, 408, 429].includes(status)
  );
}
