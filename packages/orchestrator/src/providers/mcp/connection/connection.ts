import { Cancel } from '@mcpbridge/shared/cancel.js';
import { AppError } from '@mcpbridge/shared/errors.js';
import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';
import { META } from '@mcpbridge/shared/protocol.js';
import type { Caller, Opened } from '../../provider.js';
import type { Peer, RequestOptions } from '../peer/peer.js';
import { isBelow } from './log-levels.js';
import { ModernSpeaker } from './modern.js';
import type { Routing } from './routing.js';
import { forget, type SessionMemory } from './session-memory.js';

/** An open connection to one upstream, of whatever era and transport. */
export class Connection {
  /** On the clock of `performance.now()`, by which two uses within one millisecond still have an order. */
  lastUsed = performance.now();
  readonly openedAt = performance.now();
  /** Under way while somebody wants to know whether it still answers. */
  examined: Promise<void> | undefined;
  private readonly modern: ModernSpeaker | undefined;
  private lastCaller: Caller | undefined;

  constructor(
    server: string,
    readonly peer: Peer,
    readonly opened: Opened,
    readonly routing: Routing,
    private readonly memory: SessionMemory,
  ) {
    routing.memory = memory;
    if (opened.era === 'modern') this.modern = new ModernSpeaker(server, peer, opened, routing, memory);
    else this.remind();
  }

  /** Nothing is under way, and nobody waits for an update. */
  get isIdle(): boolean {
    return this.peer.isIdle && this.memory.subscriptions.size === 0;
  }

  /** The server says when its tools change. */
  get announcesTools(): boolean {
    const { tools } = this.opened.capabilities;
    return isObject(tools) && tools.listChanged === true;
  }

  request(method: string, params?: JsonObject, options?: RequestOptions): Promise<unknown> {
    this.lastUsed = performance.now();
    const caller = options?.origin?.caller;
    if (caller !== this.lastCaller) this.meet(caller);
    const sent = params && withoutHopKeys(params);
    if (method === 'resources/unsubscribe' && this.isStillHeard(params, caller)) return Promise.resolve({});
    if (method === 'logging/setLevel') return this.setLevel(sent, options);
    const answer = this.modern
      ? this.modern.request(method, sent, options)
      : this.legacyRequest(method, sent, options);
    return method === 'tools/call' ? answer : this.remember(method, params, caller, answer);
  }

  private meet(caller: Caller | undefined): void {
    this.lastCaller = caller;
    if (caller && this.routing.caller === undefined) this.memory.users.set(caller.sessionId, caller);
  }

  /** Others who share the connection have subscribed to the same. */
  private isStillHeard(params: JsonObject | undefined, caller: Caller | undefined): boolean {
    const subscribed = this.memory.subscriptions.get(String(params?.uri)) ?? new Set();
    const isAlone = ![...subscribed].some((sessionId) => sessionId !== caller?.sessionId);
    if (isAlone || !caller) return false;
    subscribed.delete(caller.sessionId);
    return true;
  }

  /** What a legacy server says of its session counts for all that share it: the one that wants most is heard, the others' lines are held back here. */
  private async setLevel(
    params: JsonObject | undefined,
    options: RequestOptions | undefined,
  ): Promise<unknown> {
    const level = params?.level;
    const { memory } = this;
    const isShared = this.routing.caller === undefined;
    const isEnough = isShared && memory.logLevel !== undefined && !isBelow(level, memory.logLevel);
    const isSent = !this.modern && !isEnough;
    const result = isSent ? await this.peer.request('logging/setLevel', params, options) : {};
    if (isSent) memory.logLevel = level;
    const sessionId = options?.origin?.caller.sessionId;
    if (sessionId !== undefined) memory.levels.set(sessionId, level);
    return result;
  }

  /** A modern client says with each request which lines it wants; a legacy server is told once. */
  private legacyRequest(
    method: string,
    params: JsonObject | undefined,
    options: RequestOptions | undefined,
  ): Promise<unknown> {
    const level = options?.origin?.listener?.terms?.logLevel;
    const { memory } = this;
    const isNew = level !== undefined && level !== memory.logLevel && 'logging' in this.opened.capabilities;
    if (!isNew || (memory.logLevel !== undefined && !isBelow(level, memory.logLevel)))
      return this.peer.request(method, params, options);
    memory.logLevel = level;
    const told = this.peer.request('logging/setLevel', { level }).catch(() => {
      // It has its own mind then; the call does not depend on it.
    });
    return told.then(() => this.peer.request(method, params, options));
  }

  /** One of those that share it is gone; what nobody else wants is not told any more. */
  forgetSession(sessionId: string): void {
    if (this.lastCaller?.sessionId === sessionId) this.lastCaller = undefined;
    for (const uri of forget(this.memory, sessionId)) {
      if (this.modern) this.modern.listen();
      else
        this.peer.request('resources/unsubscribe', { uri }).catch(() => {
          // Then it goes on telling, and nobody hears it.
        });
    }
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

  private async remember(
    method: string,
    params: JsonObject | undefined,
    caller: Caller | undefined,
    answer: Promise<unknown>,
  ): Promise<unknown> {
    const result = await answer;
    const { subscriptions } = this.memory;
    const uri = String(params?.uri);
    if (method === 'resources/subscribe')
      subscriptions.set(uri, (subscriptions.get(uri) ?? new Set()).add(caller?.sessionId ?? ''));
    else if (method === 'resources/unsubscribe') subscriptions.delete(uri);
    else return result;
    this.modern?.listen();
    return result;
  }

  private remind(): void {
    const { logLevel, subscriptions } = this.memory;
    const again: [string, JsonObject][] = [...subscriptions.keys()].map((uri) => [
      'resources/subscribe',
      { uri },
    ]);
    if (logLevel !== undefined) again.push(['logging/setLevel', { level: logLevel }]);
    for (const [method, params] of again) {
      this.peer.request(method, params).catch(() => {
        // It took this once; if it does not now, the session still has its tools.
      });
    }
  }
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
