import { Cancel, type CancelSignal } from '@mcpbridge/shared/cancel.js';
import { AppError, messageOf } from '@mcpbridge/shared/errors.js';
import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';
import { META } from '@mcpbridge/shared/protocol.js';
import type { ServerEntry } from '../../config/server-entry.js';
import type { Opened } from '../provider.js';
import { type Eras, shakeHands } from './handshake.js';
import { ModernSpeaker } from './modern.js';
import { openTransport } from './open-transport.js';
import { Peer, type RequestOptions } from './peer.js';
import type { Routing } from './routing.js';
import type { SessionMemory } from './session-memory.js';
import type { Transport, TransportContext } from './transport.js';

export const START_TIMEOUT_MS = 30_000;

/** An open connection to one upstream, of whatever era and transport. */
export class Connection {
  /** On the clock of `performance.now()`, by which two uses within one millisecond still have an order. */
  lastUsed = performance.now();
  readonly openedAt = performance.now();
  /** Under way while somebody wants to know whether it still answers. */
  examined: Promise<void> | undefined;
  private readonly modern: ModernSpeaker | undefined;

  constructor(
    server: string,
    readonly peer: Peer,
    readonly opened: Opened,
    readonly routing: Routing,
    private readonly memory: SessionMemory,
  ) {
    if (opened.era === 'modern') this.modern = new ModernSpeaker(server, peer, opened, routing, memory);
    else this.remind();
  }

  /** Nothing is under way, and nobody waits for an update. */
  get isIdle(): boolean {
    return this.peer.isIdle && this.memory.subscriptions.size === 0;
  }

  request(method: string, params?: JsonObject, options?: RequestOptions): Promise<unknown> {
    this.lastUsed = performance.now();
    const sent = params && withoutHopKeys(params);
    const answer = this.modern
      ? this.modern.request(method, sent, options)
      : this.peer.request(method, sent, options);
    return method === 'tools/call' ? answer : this.remember(method, params, answer);
  }

  /** Whether it answers anything at all within `ms`, be it an error; false also when it breaks meanwhile. */
  async answers(ms: number): Promise<boolean> {
    const patience = new Cancel();
    const late = new AppError('CALL_CANCELLED', 'There was no answer in time.');
    const timer = setTimeout(() => patience.abort(late), ms);
    const options = { signal: patience.signal, background: true };
    try {
      await (this.modern
        ? this.modern.request('server/discover', undefined, options)
        : this.peer.request('ping', undefined, options));
      return true;
    } catch {
      // An error is an answer, too; what broke has told its own listeners.
      return !patience.aborted && !this.peer.isClosed;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Tells the server of everything that is cancelled by the end. */
  async close(reason: AppError): Promise<void> {
    this.peer.cancelAll(() => true, reason);
    await this.peer.close();
  }

  private async remember(method: string, params: JsonObject | undefined, answer: Promise<unknown>) {
    const result = await answer;
    if (method === 'logging/setLevel') this.memory.logLevel = params?.level;
    else if (method === 'resources/subscribe') this.memory.subscriptions.add(String(params?.uri));
    else if (method === 'resources/unsubscribe') this.memory.subscriptions.delete(String(params?.uri));
    else return result;
    if (method !== 'logging/setLevel') this.modern?.listen();
    return result;
  }

  private remind(): void {
    const { logLevel, subscriptions } = this.memory;
    const again: [string, JsonObject][] = [...subscriptions].map((uri) => ['resources/subscribe', { uri }]);
    if (logLevel !== undefined) again.push(['logging/setLevel', { level: logLevel }]);
    for (const [method, params] of again) {
      this.peer.request(method, params).catch(() => {
        // It took this once; if it does not now, the session still has its tools.
      });
    }
  }
}

/** Connects and shakes hands within the server's start time; rejects with PROVIDER_UNAVAILABLE and the reason. */
export async function openConnection(
  entry: ServerEntry,
  context: TransportContext,
  routing: Routing,
  memory: SessionMemory,
  hooks: StartHooks,
): Promise<Connection> {
  const { id, startTimeoutMs: ms = START_TIMEOUT_MS } = entry;
  const controller = new Cancel();
  const late = new AppError('PROVIDER_UNAVAILABLE', `Server "${id}" was not ready within ${ms / 1000} s.`);
  const timer = setTimeout(() => controller.abort(late), ms);
  const onOver = () => controller.abort(hooks.over.reason);
  hooks.over.addEventListener('abort', onOver);
  let transport: Transport | undefined;
  try {
    transport = await openTransport(entry, context, controller.signal);
    const peer = new Peer(transport, routing);
    const opened = await shakeHands(id, peer, transport, routing, controller.signal, hooks.eras);
    return new Connection(id, peer, opened, routing, memory);
  } catch (error) {
    if (transport) hooks.leaving(transport.close());
    throw startFailure(id, error, context.words.lines);
  } finally {
    clearTimeout(timer);
    hooks.over.removeEventListener('abort', onOver);
  }
}

interface StartHooks {
  eras: Eras;
  /** Ends the start. */
  over: CancelSignal;
  /** Hears of the end of a connection that did not get ready, which may take longer than the bad news. */
  leaving(ended: Promise<void>): void;
}

function startFailure(server: string, thrown: unknown, words: readonly string[]): AppError {
  const error =
    thrown instanceof AppError
      ? thrown
      : new AppError('PROVIDER_UNAVAILABLE', `Server "${server}" could not be started: ${messageOf(thrown)}`);
  if (error.code === 'CALL_CANCELLED') return error;
  const said = error.code === 'CONNECTION_LOST' || words.length === 0 ? '' : ` It said: ${words.join(' | ')}`;
  const { cause, details } = error;
  const retryable = error.code === 'PROVIDER_UNAVAILABLE' ? error.retryable : true;
  return new AppError('PROVIDER_UNAVAILABLE', error.message + said, { cause, details, retryable });
}

/** Keys of `_meta` that speak of the client's own connection; ours to the upstream has its own. */
const HOP_KEYS = ['progressToken', META.protocolVersion, META.clientInfo, META.clientCapabilities];

function withoutHopKeys(params: JsonObject): JsonObject {
  const meta = params._meta;
  if (!isObject(meta) || !HOP_KEYS.some((key) => key in meta)) return params;
  const kept = Object.fromEntries(Object.entries(meta).filter(([key]) => !HOP_KEYS.includes(key)));
  const { _meta, ...rest } = params;
  return Object.keys(kept).length === 0 ? rest : { ...rest, _meta: kept };
}
