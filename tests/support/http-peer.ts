import { EventEmitter, once } from 'node:events';
import { modernHeaders, modernMeta } from './api.js';
import type { RunningOrchestrator } from './orchestrator.js';
import type { Frame } from './stdio-peer.js';

/** A client of `/mcp` without any library that keeps every frame that reaches it, over whatever stream; ids from 0. */
export class HttpPeer {
  readonly frames: Frame[] = [];
  private readonly events = new EventEmitter().setMaxListeners(0);
  private readonly over = new AbortController();
  private nextId = 0;

  private constructor(
    private readonly url: string,
    private readonly headers: Record<string, string>,
    /** Of the modern era: sent with every request. */
    private readonly meta?: object,
  ) {}

  /** With a stream open for what comes unasked. */
  static async legacy(running: RunningOrchestrator, capabilities: object): Promise<HttpPeer> {
    const peer = new HttpPeer(`${running.url}/mcp`, running.headers());
    const clientInfo = { name: 'http-peer', version: '1.0.0' };
    const params = { protocolVersion: '2025-11-25', capabilities, clientInfo };
    const response = await peer.post({ id: peer.nextId++, method: 'initialize', params });
    peer.headers['mcp-session-id'] = response.headers.get('mcp-session-id') ?? '';
    await response.text();
    await peer.send({ method: 'notifications/initialized' });
    const stream = await peer.fetch({ headers: { accept: 'text/event-stream' } });
    void peer.read(stream);
    return peer;
  }

  static modern(running: RunningOrchestrator, session: string, clientCapabilities: object): HttpPeer {
    const meta = {
      ...modernMeta,
      'io.modelcontextprotocol/clientCapabilities': clientCapabilities,
      'io.modelcontextprotocol/logLevel': 'debug',
    };
    return new HttpPeer(`${running.url}/mcp`, running.headers(session), meta);
  }

  /** Resolves when all that is answered to it has been read. */
  async send(frame: Frame, signal?: AbortSignal): Promise<void> {
    const response = await this.post(frame, signal).catch((error) => {
      if (signal?.aborted || this.over.signal.aborted) return undefined;
      throw error;
    });
    if (response) await this.read(response);
  }

  /** Its answer; never one when `signal` ends it. `id` only where a test wants a certain one. */
  async request(
    method: string,
    params: Frame = {},
    signal?: AbortSignal,
    id = this.nextId++,
  ): Promise<Frame> {
    const sent = this.meta ? { ...params, _meta: { ...this.meta, ...params._meta } } : params;
    await this.send({ id, method, params: sent }, signal);
    return this.waitFor((frame) => frame.id === id && frame.method === undefined);
  }

  notify(method: string, params: Frame): Promise<void> {
    return this.send({ method, params });
  }

  async waitFor(fits: (frame: Frame) => boolean): Promise<Frame> {
    for (;;) {
      const found = this.frames.find(fits);
      if (found) return found;
      await once(this.events, 'frame');
    }
  }

  close(): void {
    this.over.abort();
  }

  private post(frame: Frame, signal?: AbortSignal): Promise<Response> {
    const { method, params } = frame;
    const accept = 'application/json, text/event-stream';
    const headers = {
      accept,
      'content-type': 'application/json',
      ...(this.meta ? modernHeaders(method, params?.name ?? params?.uri ?? params?.taskId) : {}),
    };
    return this.fetch(
      { method: 'POST', headers, body: JSON.stringify({ jsonrpc: '2.0', ...frame }) },
      signal,
    );
  }

  private fetch(init: RequestInit, signal?: AbortSignal): Promise<Response> {
    const signals = signal ? [signal, this.over.signal] : [this.over.signal];
    const headers = { ...this.headers, ...(init.headers as Record<string, string>) };
    return fetch(this.url, { ...init, headers, signal: AbortSignal.any(signals) });
  }

  private async read(response: Response): Promise<void> {
    if (response.headers.get('content-type') !== 'text/event-stream') {
      const text = await response.text().catch(() => '');
      if (text !== '') this.receive(text);
      return;
    }
    const decoder = new TextDecoder();
    let text = '';
    try {
      for await (const chunk of response.body ?? []) {
        const events = (text + decoder.decode(chunk as Uint8Array, { stream: true })).split('\n\n');
        text = events.pop() ?? '';
        for (const event of events) {
          const data = event.split('\n').find((part) => part.startsWith('data: {'));
          if (data) this.receive(data.slice('data: '.length));
        }
      }
    } catch {
      // This end was closed.
    }
  }

  private receive(text: string): void {
    this.frames.push(JSON.parse(text));
    this.events.emit('frame');
  }
}
