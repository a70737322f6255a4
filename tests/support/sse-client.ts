import type { RunningOrchestrator } from './orchestrator.js';

export interface SseEvent {
  id?: string;
  data?: string;
  retry?: string;
  message?: Record<string, unknown>;
}

/** A client of `/mcp` that sees each event as it is on the wire; what it is answered may also be plain JSON. */
export class SseClient {
  private constructor(
    private readonly url: string,
    private readonly headers: Record<string, string>,
  ) {}

  static async initialize(
    running: RunningOrchestrator,
    capabilities: object = {},
    protocolVersion = '2025-11-25',
    token = running.token,
  ): Promise<SseClient> {
    const url = `${running.url}/mcp`;
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const clientInfo = { name: 'test', version: '1.0.0' };
    const params = { protocolVersion, capabilities, clientInfo };
    const { response } = await new SseClient(url, headers).post({ id: 0, method: 'initialize', params });
    const session = response.headers.get('mcp-session-id') ?? '';
    await response.text();
    const client = new SseClient(url, { ...headers, 'mcp-session-id': session });
    await client.post({ method: 'notifications/initialized' });
    return client;
  }

  post(message: object, headers: Record<string, string> = {}): Promise<EventStream> {
    return this.fetch({ method: 'POST', body: JSON.stringify({ jsonrpc: '2.0', ...message }), headers });
  }

  get(lastEventId?: string): Promise<EventStream> {
    return this.fetch({ headers: lastEventId === undefined ? {} : { 'last-event-id': lastEventId } });
  }

  private async fetch(init: RequestInit): Promise<EventStream> {
    const abort = new AbortController();
    const accept = 'application/json, text/event-stream';
    const headers = { ...this.headers, accept, ...(init.headers as Record<string, string>) };
    return new EventStream(await fetch(this.url, { ...init, headers, signal: abort.signal }), abort);
  }
}

export class EventStream {
  private readonly reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  private text = '';

  constructor(
    readonly response: Response,
    private readonly abort: AbortController,
  ) {
    const isStream = response.headers.get('content-type') === 'text/event-stream';
    this.reader = isStream ? response.body?.getReader() : undefined;
  }

  /** The next event that has data, or any; undefined at the end. */
  async next({ withData = true } = {}): Promise<SseEvent | undefined> {
    for (;;) {
      const end = this.text.indexOf('\n\n');
      if (end < 0) {
        const { done, value } = (await this.reader?.read()) ?? { done: true };
        if (done) return undefined;
        this.text += Buffer.from(value as Uint8Array).toString('utf8');
        continue;
      }
      const event = readEvent(this.text.slice(0, end));
      this.text = this.text.slice(end + 2);
      if (event.data !== undefined && (event.data !== '' || !withData)) return event;
    }
  }

  /** The client's side is gone. */
  async cut(): Promise<void> {
    this.abort.abort();
    await this.reader?.closed.catch(() => {});
  }
}

function readEvent(text: string): SseEvent {
  const lines = text.split('\n').map((line) => [line.split(': ')[0], line.slice(line.indexOf(': ') + 2)]);
  const event: SseEvent = Object.fromEntries(lines);
  return event.data ? { ...event, message: JSON.parse(event.data) } : event;
}
