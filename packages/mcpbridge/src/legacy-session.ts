import { messageOf } from '@mcpbridge/shared/errors.js';
import { isObject, type RpcId } from '@mcpbridge/shared/json-rpc.js';
import { HEADER } from '@mcpbridge/shared/wire.js';
import { discard, type RawHeaders } from './attempt.js';
import type { BridgeLog } from './bridge-log.js';
import type { Answer, Connection } from './connection.js';
import { MCP_HEADERS, refusalOf } from './endpoint.js';
import { bridgeFailure } from './failure.js';
import { type OnMessage, receive } from './receive.js';
import { withResends } from './resend.js';
import { followServerStream } from './server-stream.js';
import { Stop } from './stop.js';

/** What a request may have besides its body. */
export interface SendOptions {
  stop?: Stop;
  onWritten?: () => void;
}

/** Takes an answer to `initialize`; answers the reply in it, undefined when it is none that opens a session. */
export type TakeAnswer = (answer: Answer) => Promise<Buffer[] | undefined>;

/**
 * The session of a legacy client with the orchestrator. When the orchestrator has lost it, the client's own
 * handshake is played again, so that the client notices nothing.
 */
export class LegacySession {
  private id: string | undefined;
  private version: string | undefined;
  private initialize: { id: RpcId; line: Buffer } | undefined;
  private initialized: Buffer | undefined;
  /** What messages that arrive now wait for. */
  private barrier: Promise<void> | undefined;
  private reopening: Promise<void> | undefined;
  private streamEnd: Stop | undefined;

  constructor(
    private readonly connection: Connection,
    private readonly onMessage: OnMessage,
    private readonly log: BridgeLog,
  ) {}

  /** Messages that arrive from now on wait until `work` is done, well or badly. */
  holdBack(work: Promise<unknown>): void {
    const lift = () => {
      if (this.barrier === barrier) this.barrier = undefined;
    };
    const barrier = work.then(lift, lift);
    this.barrier = barrier;
  }

  /** Carries the client's `initialize`; `take` passes the answer on. */
  async open(id: RpcId, line: Buffer, options: SendOptions, take: TakeAnswer): Promise<void> {
    this.initialize = { id, line };
    this.initialized = undefined;
    this.streamEnd?.fire(undefined);
    await this.shakeHands(line, options, take);
  }

  /** Carries `notifications/initialized` and opens the stream for what the orchestrator says unasked. */
  async confirm(line: Buffer): Promise<void> {
    this.initialized = line;
    const answer = await this.send(line);
    discard(answer.stream);
    this.follow();
  }

  async send(line: Buffer, options: SendOptions = {}): Promise<Answer> {
    await this.barrier;
    const sentAs = this.id;
    const answer = await this.post(line, options);
    if (answer.status !== 404 || sentAs === undefined) return answer;
    await this.reopen(sentAs);
    return this.post(line, options);
  }

  private post(line: Buffer, options: SendOptions): Promise<Answer> {
    return this.connection.send({
      method: 'POST',
      path: this.connection.mcpPath,
      headers: [...MCP_HEADERS, ...this.headers()],
      body: line,
      ...options,
    });
  }

  private headers(): RawHeaders {
    const { id, version } = this;
    const headers = id === undefined ? [] : [HEADER.mcpSession, id];
    return version === undefined ? headers : [...headers, HEADER.mcpVersion, version];
  }

  private async shakeHands(line: Buffer, options: SendOptions, take: TakeAnswer): Promise<void> {
    this.id = undefined;
    this.version = undefined;
    const answer = await this.post(line, options);
    const reply = await take(answer);
    if (!reply) return;
    this.id = headerOf(answer, HEADER.mcpSession);
    this.version = negotiatedVersion(reply);
  }

  private reopen(lostId: string): Promise<void> {
    if (this.reopening) return this.reopening;
    // Somebody else has opened it since.
    if (this.id !== lostId) return Promise.resolve();
    this.reopening = this.replay()
      .catch((error) => {
        // Still lost: the next message finds out again.
        this.id = lostId;
        throw error;
      })
      .finally(() => (this.reopening = undefined));
    this.holdBack(this.reopening);
    return this.reopening;
  }

  private async replay(): Promise<void> {
    const { initialize, initialized } = this;
    if (!initialize)
      throw bridgeFailure('SESSION_NOT_FOUND', 'The session is gone and was never opened here.');
    const take = async (answer: Answer) => {
      if (answer.refusal) throw refusalOf(answer, answer.refusal, this.connection);
      return receive(answer, initialize.id, () => {});
    };
    try {
      await withResends(
        () => true,
        () => this.shakeHands(initialize.line, {}, take),
      );
      if (initialized) discard((await this.post(initialized, {})).stream);
    } catch (error) {
      // Never BrokenOff: what broke is the handshake; the message that waits for it has not been carried out.
      const reason = `The lost session could not be opened again: ${messageOf(error)}`;
      throw bridgeFailure('EXECUTOR_UNREACHABLE', reason);
    }
    this.log.note('the orchestrator had lost the session; it was opened again');
    if (initialized) this.follow();
  }

  private follow(): void {
    this.streamEnd?.fire(undefined);
    this.streamEnd = new Stop();
    const stop = this.streamEnd;
    const id = this.id;
    void followServerStream({
      open: (headers) =>
        this.connection.send(
          { method: 'GET', path: this.connection.mcpPath, headers: [...this.headers(), ...headers], stop },
          0,
        ),
      reopen: async () => {
        if (id !== undefined) await this.reopen(id);
      },
      onMessage: this.onMessage,
      stop,
      log: this.log,
    });
  }
}

function headerOf(answer: Answer, name: string): string | undefined {
  const value = answer.headers[name];
  return typeof value === 'string' ? value : undefined;
}

function negotiatedVersion(reply: Buffer[]): string | undefined {
  const message: unknown = JSON.parse(Buffer.concat(reply).toString('utf8'));
  const result = isObject(message) ? message.result : undefined;
  return isObject(result) && typeof result.protocolVersion === 'string' ? result.protocolVersion : undefined;
}
