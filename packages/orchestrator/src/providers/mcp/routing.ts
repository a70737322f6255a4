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
import type { Caller } from '../provider.js';
import type { Peer, PeerEvents } from './peer.js';

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

  notification(notification: RpcNotification, peer: Peer): void {
    const { method } = notification;
    if (method === 'notifications/subscriptions/acknowledged') return;
    if (method === 'notifications/tools/list_changed') {
      void this.toolsChanged(notification);
      return;
    }
    // On a common connection a line may also be a late one of another session's call.
    const isCertain = this.caller !== undefined || !peer.servesMany;
    const running = method === 'notifications/message' && isCertain ? peer.running() : [];
    const listener = running.length === 1 ? running[0]?.listener : undefined;
    if (listener?.notification) listener.notification(plain(notification));
    else if (this.caller) this.caller.notify(this.server, plain(notification));
    else this.hooks.dropped();
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

  async question(
    method: string,
    params: JsonObject | undefined,
    signal: CancelSignal,
    peer: Peer,
  ): Promise<unknown> {
    const running = peer.running();
    const askable = running.filter(({ listener }) => listener?.ask);
    // Over stdio nothing says which call a question belongs to. On a session's own connection any of its calls leads to
    // its client, so the latest asks; on a common one only what surely is the asking call: the only one, unless the
    // server may still be at one that another session has given up.
    const isCertain = running.length === 1 && !(peer.servesMany && peer.hasAbandoned);
    const asking = this.caller || isCertain ? askable.at(-1) : undefined;
    if (asking?.listener?.ask) {
      try {
        return await asking.listener.ask(method, params, signal);
      } catch (error) {
        const callIsOver = error instanceof AppError && error.code === 'CALL_CANCELLED' && !signal.aborted;
        if (!callIsOver || peer.running().includes(asking)) throw error;
        // It was cancelled; the question may be that of another call of the session.
        return this.question(method, params, signal, peer);
      }
    }
    const caller = this.caller ?? (isCertain ? running[0]?.caller : undefined);
    if (caller) return caller.ask(this.server, method, params, signal);
    if (method === 'roots/list' && running.length === 0) return { roots: [] };
    throw new RpcFailure(RPC.internalError, `There is nobody who could be asked by ${method} here.`);
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

/** Without the id of a subscription that the orchestrator holds, and the client knows nothing of. */
function plain(notification: RpcNotification): RpcNotification {
  const { params } = notification;
  if (!params || !isObject(params._meta) || !(META.subscriptionId in params._meta)) return notification;
  const { [META.subscriptionId]: _, ...meta } = params._meta;
  const { _meta, ...rest } = params;
  return { ...notification, params: Object.keys(meta).length === 0 ? rest : { ...rest, _meta: meta } };
}
