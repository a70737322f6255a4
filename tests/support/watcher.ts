import type { HouseEvent, StreamMessage } from '@mcpbridge/shared/events.js';
import { WebSocket } from 'ws';
import type { RunningOrchestrator } from './orchestrator.js';
import { eventually } from './processes.js';

/** Follows /api/events/ws and keeps what came. */
export class Watcher {
  readonly events: HouseEvent[] = [];
  hello: Extract<StreamMessage, { hello: unknown }>['hello'] | undefined;
  /** What goes into `since` of the next one. */
  place = 0;
  head = 0;

  private constructor(readonly socket: WebSocket) {
    socket.on('message', (data) => {
      const message: StreamMessage = JSON.parse(String(data));
      if ('hello' in message) {
        this.hello = message.hello;
        this.place = message.hello.seq;
      } else {
        this.events.push(...message.events);
        this.place = message.seq;
        this.head = message.head;
      }
    });
  }

  static async open(running: RunningOrchestrator, query: Record<string, string> = {}): Promise<Watcher> {
    const address = `${running.url.replace('http', 'ws')}/api/events/ws?${new URLSearchParams(query)}`;
    const watcher = new Watcher(new WebSocket(address, { headers: running.headers() }));
    await eventually('the watcher is greeted', () => watcher.hello !== undefined);
    return watcher;
  }

  /** Rows of calls as they came. */
  get calls() {
    return this.events.flatMap((event) => (event.type === 'call' ? [event.call] : []));
  }

  get ended() {
    return this.calls.filter(({ status }) => status !== 'running' && status !== 'waiting');
  }

  async sawEnded(count: number, withinMs = 10_000): Promise<void> {
    await eventually(`${count} calls are seen`, () => this.ended.length >= count, withinMs);
  }

  /** Stops and goes on reading, as a browser that is too slow. */
  pause(): void {
    this.socket.pause();
  }

  resume(): void {
    this.socket.resume();
  }

  close(): void {
    this.socket.terminate();
  }
}
