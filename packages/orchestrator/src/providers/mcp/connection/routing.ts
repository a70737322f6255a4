import { setTimeout as sleep } from 'node:timers/promises';
import type { CancelSignal } from '@mcpbridge/shared/cancel.js';
import { AppError } from '@mcpbridge/shared/errors.js';
import {
  isObject,
  type JsonObject,
  RPC,
  RpcFailure,
  type RpcNotification,
} from '@mcpbridge/shared/json-rpc.js';
import { META } from '@mcpbridge/shared/protocol.js';
import type { Caller } from '../../provider.js';
import type { During, Origin } from '../peer/origin.js';
import type { Peer, PeerEvents } from '../peer/peer.js';
import { AskingCalls } from './asking-calls.js';
import { isBelow } from './log-levels.js';
import type { SessionMemory } from './session-memory.js';

/** What a connection of nobody in particular declares, so that servers list the tools that need it. */
const COMMON_CAPABILITIES: JsonObject = {
  roots: { listChanged: true },
  sampling: {},
  elicitation: { form: {}, url: {} },
};

/** After a reading of tools that changed, the next one waits so many times as long as it took. */
const REST = 4;
const SHORTEST_REST_MS = 100;
const LONGEST_REST_MS = 2000;

interface RoutingHooks {
  toolsChanged(routing: Routing): Promise<void>;
  /** A message that could not be given to anybody without showing it to the wrong one. */
  dropped(): void;
  spent(routing: Routing): void;
  closed(routing: Routing, reason: AppError): void;
  bounded(what: string, reason: string): void;
}

/**
 * Decides to whom a message of the upstream goes. On a session's own connection that is the session, or its one
 * running call; on a common one (listing, or shared by all sessions) only what surely belongs to a call arrives.
 */
export class Routing implements PeerEvents {
  private readings = 0;
  /** On the clock of `performance.now()`. */
  private nextReadingAt = 0;
  private isOver = false;
  private asking: AskingCalls | undefined;
  /** What the sessions told the server. */
  memory: SessionMemory | undefined;

  constructor(
    readonly server: string,
    /** Of the session that the connection belongs to, as it was at the last use; undefined on a common one. */
    public caller: Caller | undefined,
    private readonly hooks: RoutingHooks,
  ) {}

  get capabilities(): JsonObject {
    return this.caller?.capabilities ?? COMMON_CAPABILITIES;
  }

  get hello(): JsonObject | undefined {
    return this.caller?.hello;
  }

  notification(notification: RpcNotification, peer: Peer, during: During): void {
    const { method } = notification;
    if (method === 'notifications/tools/list_changed') {
      void this.toolsChanged(notification);
      return;
    }
    const isOfRequest = method === 'notifications/message' || method === 'notifications/tasks';
    const call = isOfRequest ? (during ?? this.onlyCall(method, peer, during)) : undefined;
    if (
      call &&
      method === 'notifications/message' &&
      isBelow(notification.params?.level, this.leastFor(call))
    )
      return;
    if (call?.listener?.notification) call.listener.notification(plain(notification));
    else if (this.caller) this.caller.notify(this.server, plain(notification));
    else if (this.tellSharers(plain(notification))) return;
    else if (during) during.caller.notify(this.server, plain(notification));
    else this.hooks.dropped();
  }

  /** A list is the same for all who share a connection, and an updated resource is of those who subscribed to it, or to one above it. */
  private tellSharers(notification: RpcNotification): boolean {
    const { method, params } = notification;
    const { users, subscriptions } = this.memory ?? {};
    const told = new Set(method.endsWith('/list_changed') ? users?.keys() : []);
    if (method === 'notifications/resources/updated') {
      for (const [uri, sessions] of subscriptions ?? [])
        if (isAtOrBelow(String(params?.uri), uri)) for (const sessionId of sessions) told.add(sessionId);
    }
    for (const sessionId of told) users?.get(sessionId)?.notify(this.server, notification);
    return told.size > 0;
  }

  /** The catalog first: the session will list again as soon as it hears of it. */
  private async toolsChanged(notification: RpcNotification): Promise<void> {
    // One reading may be under way and one wait for it; what comes meanwhile is covered by the second.
    if (this.readings >= 2) return;
    this.readings += 1;
    const pause = this.nextReadingAt - performance.now();
    if (pause > 0) await sleep(pause, undefined, { ref: false });
    if (this.isOver) return;
    const started = performance.now();
    await this.hooks.toolsChanged(this);
    const rest = REST * (performance.now() - started);
    this.nextReadingAt = performance.now() + Math.min(Math.max(rest, SHORTEST_REST_MS), LONGEST_REST_MS);
    this.readings -= 1;
    this.caller?.notify(this.server, plain(notification));
  }

  /** Which log lines whoever made the call wants, where the server cannot know it: others share its connection, or it is of the legacy era. */
  private leastFor({ caller, listener }: Origin): unknown {
    if (listener?.terms) return listener.terms.logLevel;
    return this.caller ? undefined : this.memory?.levels.get(caller.sessionId);
  }

  /** The one that runs, if the message can be of no other: on a common connection it may be a late one of another session. */
  private onlyCall(method: string, peer: Peer, during: During): Origin | undefined {
    if (method !== 'notifications/message' || during === null || !(this.caller ?? peer.onlyCaller))
      return undefined;
    const running = peer.running();
    return running.length === 1 ? running[0] : undefined;
  }

  async question(
    method: string,
    params: JsonObject | undefined,
    signal: CancelSignal,
    peer: Peer,
    during: During,
  ): Promise<unknown> {
    if (during?.listener?.ask) return during.listener.ask(method, params, signal);
    const caller = during?.caller ?? this.whoeverAsks(method, peer, during);
    if (!caller) return this.refuse(method, during === undefined && peer.running().length > 0);
    if (during === undefined) {
      const asked = await this.askOneOf(caller, method, params, signal, peer);
      if (asked) return asked.answer;
    }
    return caller.ask(this.server, method, params, signal);
  }

  /**
   * Whose call it surely is that asks. On a common connection that is somebody only as long as nobody else has used it: the
   * server may ask late, for a call that it has answered. Roots are not of a call, but of the connection and all who come after.
   */
  private whoeverAsks(method: string, peer: Peer, during: During): Caller | undefined {
    if (this.caller || method === 'roots/list' || during === null) return this.caller;
    return peer.onlyCaller;
  }

  private refuse(method: string, isOfSomeCall: boolean): JsonObject {
    if (method === 'roots/list') return { roots: [] };
    if (!isOfSomeCall)
      throw new RpcFailure(RPC.internalError, `There is nobody who could be asked by ${method} here.`);
    const ask = `asks ${method}, and nothing says in which of the sessions that share it`;
    this.hooks.bounded('questions', `It ${ask}; with "isolation": "session" the question arrives.`);
    const remedy = 'give it "isolation": "session"';
    throw new RpcFailure(
      RPC.internalError,
      `There is nobody who could be asked: server "${this.server}" ${ask}; ${remedy}.`,
    );
  }

  /** Through one of the session's calls; undefined when none of them can be asked. */
  private async askOneOf(
    { sessionId }: Caller,
    method: string,
    params: JsonObject | undefined,
    signal: CancelSignal,
    peer: Peer,
  ): Promise<{ answer: unknown } | undefined> {
    this.asking ??= new AskingCalls(peer, sessionId);
    const found = this.asking.take(signal);
    const asking = found instanceof Promise ? await found : found;
    if (signal.aborted) throw signal.reason;
    if (!asking?.call.listener?.ask) return undefined;
    try {
      return { answer: await asking.call.listener.ask(method, params, signal) };
    } catch (error) {
      const callIsOver = error instanceof AppError && error.code === 'CALL_CANCELLED' && !signal.aborted;
      if (!callIsOver || asking.isSure || peer.running().includes(asking.call)) throw error;
    } finally {
      this.asking.give(asking);
    }
    // It was cancelled; the question may be that of another call of the session.
    return { answer: await this.question(method, params, signal, peer, undefined) };
  }

  spent(): void {
    this.hooks.spent(this);
  }

  bounded(what: string, reason: string): void {
    this.hooks.bounded(what, reason);
  }

  closed(reason: AppError): void {
    this.isOver = true;
    this.hooks.closed(this, reason);
  }
}

/** `a/bc` is not below `a/b`. */
function isAtOrBelow(uri: string, above: string): boolean {
  return uri === above || uri.startsWith(above.endsWith('/') ? above : `${above}/`);
}

/** Without the id of a subscription that the orchestrator holds, and the client knows nothing of. */
function plain(notification: RpcNotification): RpcNotification {
  const { params } = notification;
  if (!params || !isObject(params._meta) || !(META.subscriptionId in params._meta)) return notification;
  const { [META.subscriptionId]: _, ...meta } = params._meta;
  const { _meta, ...rest } = params;
  return { ...notification, params: Object.keys(meta).length === 0 ? rest : { ...rest, _meta: meta } };
}
