import type { CancelSignal } from '@mcpbridge/shared/cancel.js';
import { type JsonObject, RPC, RpcFailure, type RpcNotification } from '@mcpbridge/shared/json-rpc.js';
import type { SessionPolicy } from '@mcpbridge/shared/policy.js';
import type { Era } from '@mcpbridge/shared/protocol.js';
import type { Caller, FrameRecorder } from '../providers/provider.js';
import type { SessionLifetime } from '../store/session-store.js';
import { type EffectivePolicy, effectivePolicy } from './effective-policy.js';

/** Writes down what a session does. */
export interface SessionRecorder extends FrameRecorder {
  call(call: RecordedCall): void;
}

export interface RecordedCall {
  id: string;
  /** As clients list it. */
  name: string;
  server: string;
  tool: string;
  arguments: unknown;
  ms: number;
  /** One of both. */
  result?: unknown;
  error?: unknown;
}

/** An MCP client that is connected for a session and can be told and asked things. */
export type SessionClient = Pick<Caller, 'capabilities' | 'hello' | 'notify' | 'ask'>;

/** Which client capability a server's question needs. */
const NEEDED: Record<string, string> = {
  'elicitation/create': 'elicitation',
  'sampling/createMessage': 'sampling',
  'roots/list': 'roots',
};

/** May a client with these capabilities be asked that? */
export function canAnswer(capabilities: JsonObject, method: string): boolean {
  const needed = NEEDED[method];
  return needed === undefined || needed in capabilities;
}

/** Who is calling, under one id, owned by one principal. */
export class Session implements Caller {
  readonly clients = new Set<SessionClient>();
  lastUsedAt = Date.now();
  /** Set while it is recorded. */
  recorder: SessionRecorder | undefined;
  era: Era = 'legacy';
  /** The folder that its client works in, by its last name, where the client has said so. */
  project: string | undefined;
  /** Its own; what counts is `effective`. */
  policy: SessionPolicy = {};
  /** Milliseconds since the epoch; undefined: it does not end by itself. */
  expiresAt: number | undefined;
  /** Bounds this one, which ends with it. */
  parent: Session | undefined;
  effective: EffectivePolicy;
  private declared: JsonObject = {};
  private introduced: JsonObject | undefined;

  constructor(
    readonly sessionId: string,
    readonly owner: string,
    readonly lifetime: SessionLifetime,
    readonly createdAt: number,
  ) {
    this.effective = effectivePolicy([this]);
  }

  get capabilities(): JsonObject {
    return Object.assign({}, this.declared, ...[...this.clients].map((client) => client.capabilities));
  }

  /** Of the client that came last. */
  get hello(): JsonObject | undefined {
    return [...this.clients].findLast((client) => client.hello)?.hello ?? this.introduced;
  }

  /** A client speaks: its era, and what it can be asked and who it is when it says so with each request. */
  meet(era: Era, capabilities: JsonObject = {}, clientInfo?: unknown): void {
    this.era = era;
    this.declared = capabilities;
    this.introduced = clientInfo === undefined ? undefined : { clientInfo };
  }

  notify(serverId: string, notification: RpcNotification): void {
    for (const client of this.clients) client.notify(serverId, notification);
  }

  /** Asks the client that came last of those that can answer. */
  async ask(
    serverId: string,
    method: string,
    params: JsonObject | undefined,
    signal: CancelSignal,
  ): Promise<unknown> {
    const able = [...this.clients].reverse().find((client) => canAnswer(client.capabilities, method));
    if (!able) throw new RpcFailure(RPC.methodNotFound, `No client of this session can answer ${method}.`);
    return able.ask(serverId, method, params, signal);
  }
}
