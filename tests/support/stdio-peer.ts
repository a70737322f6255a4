import type { ChildProcess } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { createInterface } from 'node:readline';
import { startNode } from './processes.js';

// biome-ignore lint/suspicious/noExplicitAny: tests look into frames as they came
export type Frame = Record<string, any>;

/** A client that shows every frame: one process on pipes, one JSON-RPC message a line, no library in between. */
export class StdioPeer {
  readonly frames: Frame[] = [];
  /** Lines on stdout that were not JSON. */
  readonly noise: string[] = [];
  stderr = '';
  private readonly events = new EventEmitter();
  private nextId = 0;

  constructor(readonly process: ChildProcess) {
    this.events.setMaxListeners(0);
    process.stderr?.on('data', (chunk) => (this.stderr += chunk));
    process.stdin?.on('error', () => this.events.emit('frame'));
    createInterface({ input: process.stdout as NodeJS.ReadableStream }).on('line', (line) =>
      this.receive(line),
    );
  }

  static start(file: string, env: NodeJS.ProcessEnv = {}, args: string[] = []): StdioPeer {
    return new StdioPeer(startNode(file, args, env));
  }

  send(frame: Frame): void {
    this.process.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', ...frame })}\n`);
  }

  /** Sends a request and waits for its answer; `id` only where a test wants a certain one. */
  request(method: string, params?: unknown, id: string | number = this.nextId++): Promise<Frame> {
    this.send({ id, method, ...(params === undefined ? {} : { params }) });
    return this.answerTo(id);
  }

  answerTo(id: string | number): Promise<Frame> {
    return this.waitFor((frame) => frame.id === id && frame.method === undefined);
  }

  notify(method: string, params?: unknown): void {
    this.send({ method, ...(params === undefined ? {} : { params }) });
  }

  /** The first frame that fits, of those that came and those that will. */
  async waitFor(fits: (frame: Frame) => boolean): Promise<Frame> {
    for (let seen = 0; ; ) {
      for (; seen < this.frames.length; seen++) {
        const frame = this.frames[seen];
        if (frame && fits(frame)) return frame;
      }
      await once(this.events, 'frame');
    }
  }

  /** The legacy handshake; answers the initialize result. */
  async initialize(capabilities: object = {}, protocolVersion = '2025-11-25'): Promise<Frame> {
    const clientInfo = { name: 'stdio-peer', version: '1.0.0' };
    const answer = await this.request('initialize', { protocolVersion, capabilities, clientInfo });
    if (answer.result) this.notify('notifications/initialized');
    return answer;
  }

  callTool(name: string, args?: unknown, meta?: object): Promise<Frame> {
    return this.request('tools/call', {
      name,
      ...(args === undefined ? {} : { arguments: args }),
      ...(meta ? { _meta: meta } : {}),
    });
  }

  close(): void {
    this.process.stdin?.end();
  }

  private receive(line: string): void {
    if (line.trim() === '') return;
    try {
      this.frames.push(JSON.parse(line));
    } catch {
      this.noise.push(line);
    }
    this.events.emit('frame');
  }
}
