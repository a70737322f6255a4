import type { HouseEvent, StreamMessage } from '@mcpbridge/shared/events.js';

export type Hello = Extract<StreamMessage, { hello: unknown }>['hello'];

interface StreamOptions {
  /** Only these types of events. */
  types: readonly HouseEvent['type'][];
  /** Which calls, as in `GET /api/calls`. */
  query?: string;
  /** True: closed while nobody sees the page, and gone on with from the last event when somebody does. */
  restsWhileHidden?: boolean;
  /** Number of the last event that was seen; undefined: only what comes from now on. */
  since(): number | undefined;
  onHello(hello: Hello): void;
  /** `seq`: from where to go on after a loss; `head`: how far the orchestrator is. */
  onEvents(events: readonly HouseEvent[], seq: number, head: number): void;
  /** Lost, with when it is tried again; or there again. */
  onState?(state: { isUp: boolean; retryAt?: number }): void;
}

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;
/** Who looks at another tab for a moment costs no connection. */
const REST_AFTER_MS = 2000;

/** One WebSocket to the orchestrator, opened again whenever it is lost, from the last event that was seen. */
export class EventStream {
  private socket: WebSocket | undefined;
  private timer = 0;
  private restTimer = 0;
  private pause = FIRST_PAUSE_MS;
  private isClosed = false;
  private isResting = false;

  constructor(private readonly options: StreamOptions) {
    this.open();
    window.addEventListener('online', this.now);
    if (!options.restsWhileHidden) return;
    document.addEventListener('visibilitychange', this.look);
    this.look();
  }

  /** Without waiting for the pause to be over. */
  readonly now = (): void => {
    if (
      this.isClosed ||
      this.isResting ||
      this.socket?.readyState === WebSocket.OPEN ||
      this.socket?.readyState === WebSocket.CONNECTING
    )
      return;
    clearTimeout(this.timer);
    this.open();
  };

  /** Once more, from what `since` says now. */
  again(): void {
    this.hangUp();
    this.now();
  }

  close(): void {
    this.isClosed = true;
    clearTimeout(this.restTimer);
    window.removeEventListener('online', this.now);
    document.removeEventListener('visibilitychange', this.look);
    this.hangUp();
  }

  private readonly look = (): void => {
    clearTimeout(this.restTimer);
    if (document.hidden) this.restTimer = window.setTimeout(() => this.rest(), REST_AFTER_MS);
    else if (this.isResting) {
      this.isResting = false;
      this.now();
    }
  };

  private rest(): void {
    this.isResting = true;
    this.hangUp();
  }

  private hangUp(): void {
    clearTimeout(this.timer);
    const { socket } = this;
    this.socket = undefined;
    // One that is closed while it connects is a complaint in the console.
    if (socket?.readyState === WebSocket.CONNECTING) socket.onopen = () => socket.close();
    else socket?.close();
  }

  private open(): void {
    const { query = '', types, since } = this.options;
    const address = new URL('/api/events/ws', window.location.href);
    address.protocol = address.protocol.replace('http', 'ws');
    address.searchParams.set('types', types.join());
    const last = since();
    if (query !== '') address.searchParams.set('q', query);
    if (last !== undefined) address.searchParams.set('since', String(last));
    const socket = new WebSocket(address);
    this.socket = socket;
    socket.onmessage = ({ data }) => {
      if (this.socket === socket) this.receive(JSON.parse(String(data)));
    };
    socket.onclose = () => {
      if (this.socket !== socket) return;
      this.options.onState?.({ isUp: false, retryAt: Date.now() + this.pause });
      this.timer = window.setTimeout(() => this.open(), this.pause);
      this.pause = Math.min(this.pause * 2, LONGEST_PAUSE_MS);
    };
  }

  private receive(message: StreamMessage): void {
    if ('hello' in message) {
      this.pause = FIRST_PAUSE_MS;
      this.options.onState?.({ isUp: true });
      this.options.onHello(message.hello);
    } else this.options.onEvents(message.events, message.seq, message.head);
  }
}
