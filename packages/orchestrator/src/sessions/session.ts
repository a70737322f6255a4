import { type JsonObject, RPC, RpcFailure, type RpcNotification } from '@mcpbridge/shared/json-rpc.js';
import type { Caller } from '../providers/provider.js';
import type { SessionLifetime } from '../store/session-store.js';

/** An MCP client that is connected for a session and can be told and asked things. */
export interface SessionClient {
  readonly capabilities: JsonObject;
  notify(serverId: string, notification: RpcNotification): void;
  ask(
    serverId: string,
    method: string,
    params: JsonObject | undefined,
    signal: AbortSignal,
  ): Promise<unknown>;
}

/** Which client capability a server's question needs. */
const NEEDED: Record<string, string> = {
  'elicitation/create': 'elicitation',
  'sampling/createMessage': 'sampling',
  'roots/list': 'roots',
};

/** Who is calling, under one id, owned by one principal. */
export class Session implements Caller {
  readonly clients = new Set<SessionClient>();
  lastUsedAt = Date.now();

  constructor(
    readonly sessionId: string,
    readonly owner: string,
    readonly lifetime: SessionLifetime,
    readonly createdAt: number,
  ) {}

  get capabilities(): JsonObject {
    return Object.assign({}, ...[...this.clients].map((client) => client.capabilities));
  }

  notify(serverId: string, notification: RpcNotification): void {
    for (const client of this.clients) client.notify(serverId, notification);
  }

  /** Asks the client that came last of those that can answer. */
  async ask(
    serverId: string,
    method: string,
    params: JsonObject | undefined,
    signal: AbortSignal,
  ): Promise<unknown> {
    const needed = NEEDED[method];
    const able = [...this.clients]
      .reverse()
      .find((client) => needed === undefined || needed in client.capabilities);
    if (!able) throw new RpcFailure(RPC.methodNotFound, `No client of this session can answer ${method}.`);
    return able.ask(serverId, method, params, signal);
  }
}
