// A client without a library, the same for every road: what it costs is little and alike for all.
import { performance } from 'node:perf_hooks';
import { logOf, stop } from './processes.mjs';

const NEWLINE = 0x0a;

export class StdioClient {
  #pending = new Map();
  #nextId = 1;
  #parts = [];
  #outbox = '';
  #failed;

  /** `tools` maps echo and big to the names that they have on this road. */
  constructor(child, tools) {
    this.child = child;
    this.tools = tools;
    child.stdout.on('data', (chunk) => this.#receive(chunk));
    child.stdin.on('error', () => this.#fail());
    child.once('error', () => this.#fail());
    child.once('exit', () => this.#fail());
  }

  request(method, params) {
    return new Promise((resolve, reject) => {
      this.#send(method, JSON.stringify(params ?? {}), (message) =>
        message.error
          ? reject(new Error(`${method}: ${JSON.stringify(message.error)}`))
          : resolve(message.result),
      );
      this.#flush();
    });
  }

  /** The legacy handshake, as the clients of today do it. */
  async initialize() {
    const clientInfo = { name: 'bench', version: '1.0.0' };
    await this.request('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
    this.child.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
  }

  /**
   * Keeps `inFlight` echo calls going, each with a text of its own that must come back, until `calls` were made or
   * `forMs` have passed. Answers calls per second and the sorted times of the calls in milliseconds.
   */
  echo({ inFlight = 1, calls = Number.POSITIVE_INFINITY, forMs = Number.POSITIVE_INFINITY }) {
    return new Promise((resolve, reject) => {
      const times = [];
      const started = performance.now();
      let sent = 0;
      const next = () => {
        const text = `t${sent++}`;
        const sentAt = performance.now();
        this.#send(
          'tools/call',
          `{"name":"${this.tools.echo}","arguments":{"text":"${text}"}}`,
          (message) => {
            const now = performance.now();
            if (message.result?.content?.[0]?.text !== text) return reject(this.#wrong(message));
            times.push(now - sentAt);
            if (sent < calls && now - started < forMs) next();
            else if (times.length === sent) resolve(summary(times, now - started));
          },
        );
      };
      while (sent < inFlight) next();
      this.#flush();
    });
  }

  /** Milliseconds until a text of so many bytes is here and parsed. */
  async big(bytes) {
    const started = performance.now();
    const result = await this.request('tools/call', { name: this.tools.big, arguments: { bytes } });
    const took = performance.now() - started;
    if (result.content?.[0]?.text?.length !== bytes) throw this.#wrong(result);
    return took;
  }

  close() {
    this.#pending.clear();
    return stop(this.child);
  }

  #send(method, params, settle) {
    if (this.#failed) return settle({ error: this.#failed.message });
    const id = this.#nextId++;
    this.#pending.set(id, settle);
    this.#outbox += `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}\n`;
  }

  /** What one chunk of answers sets off goes out in one write. */
  #flush() {
    if (this.#outbox === '') return;
    this.child.stdin.write(this.#outbox);
    this.#outbox = '';
  }

  #receive(chunk) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      this.#parts.push(chunk.subarray(start, end));
      const line = this.#parts.length === 1 ? this.#parts[0] : Buffer.concat(this.#parts);
      this.#parts = [];
      start = end + 1;
      this.#handle(JSON.parse(line.toString('utf8')));
    }
    if (start < chunk.length) this.#parts.push(chunk.subarray(start));
    this.#flush();
  }

  #handle(message) {
    if (message.method !== undefined) return; // notifications; nothing here offers what a server could ask for
    const settle = this.#pending.get(message.id);
    this.#pending.delete(message.id);
    settle?.(message);
  }

  #wrong(message) {
    const { name } = this.child;
    return new Error(`${name} answered ${JSON.stringify(message).slice(0, 500)}\n${logOf(name)}`);
  }

  #fail() {
    const { name, exitCode, signalCode } = this.child;
    this.#failed ??= new Error(`${name} ended (${exitCode ?? signalCode}).\n${logOf(name)}`);
    const message = { error: this.#failed.message };
    for (const settle of this.#pending.values()) settle(message);
    this.#pending.clear();
  }
}

function summary(times, elapsed) {
  const perSecond = (times.length / elapsed) * 1000;
  times.sort((a, b) => a - b);
  return { perSecond, p50: quantile(times, 0.5), p99: quantile(times, 0.99), calls: times.length };
}

export const quantile = (sorted, share) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
export const median = (values) =>
  quantile(
    [...values].sort((a, b) => a - b),
    0.5,
  );
