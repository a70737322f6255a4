import type { CancelSignal } from '@mcpbridge/shared/cancel.js';
import type { JsonObject, RpcNotification } from '@mcpbridge/shared/json-rpc.js';
import type { Era } from '@mcpbridge/shared/protocol.js';
import type { ToolDefinition, ToolResult } from '@mcpbridge/shared/tools.js';

export type ProviderKind = 'mcp' | 'custom' | 'virtual' | 'workspace';

/** Writes down what goes to the servers of a session and comes from them. */
export interface FrameRecorder {
  frame(server: string, way: 'to' | 'from', message: object): void;
}

/** What a provider may know of the session that a call belongs to; the session itself is one. */
export interface Caller {
  readonly sessionId: string;
  /** The principal whose session it is: whose credentials its calls carry, where a server knows several. */
  readonly owner?: string;
  /** The era of the session's client; a server that speaks both is spoken to in it. */
  readonly era: Era;
  /** MCP capabilities of the session's client: what may be asked of it. Empty when it is a plain HTTP caller. */
  readonly capabilities: JsonObject;
  /** What the session's client said in its `initialize`, for a connection that is the session's own; undefined without one. */
  readonly hello?: JsonObject | undefined;
  /** Set while the session is recorded. */
  readonly recorder?: FrameRecorder | undefined;
  /** A message of an upstream that belongs to no call: a list change, a log line, an updated resource. */
  notify(serverId: string, notification: RpcNotification): void;
  /** A question of an upstream (elicitation, sampling, roots); rejects when the session has nobody to ask. */
  ask(
    serverId: string,
    method: string,
    params: JsonObject | undefined,
    signal: CancelSignal,
  ): Promise<unknown>;
}

/** What a modern client says with one request, for an upstream of the same era; a legacy one does not hear of it. */
export interface ModernTerms {
  capabilities: JsonObject;
  clientInfo?: unknown;
  logLevel?: unknown;
  inputResponses?: unknown;
  requestState?: unknown;
}

/** Hears what happens between a call's start and its result; each is for this call alone. */
export interface CallListener {
  /** `params` of notifications/progress, with the upstream's token taken out. */
  progress?(params: JsonObject): void;
  /** A log line or another notification that arrived while the call ran on a connection of its session. */
  notification?(notification: RpcNotification): void;
  /** A question that arrived while the call ran. */
  ask?(method: string, params: JsonObject | undefined, signal: CancelSignal): Promise<unknown>;
  /** Of `subscriptions/listen`: what the server has agreed to tell of. */
  agreed?(notifications: unknown): void;
  /** The server lets the call be polled: its stream has ended and goes on in a while. */
  paused?(): void;
  /** The caller is a modern client: a modern upstream's `input_required` is its to answer. */
  terms?: ModernTerms;
}

export interface ProviderCall {
  /** Of the call, for those that are made within it. */
  id?: string;
  caller: Caller;
  /** The provider's own name of the tool. */
  tool: string;
  args: JsonObject;
  /** `_meta` of the request as the client sent it, less its progress token. */
  meta?: JsonObject;
  /** What the client sent beside these: `task`, and what no revision knows. */
  more?: JsonObject;
  /** Aborted when the caller goes away, cancels, or the deadline passes; the provider then tells the upstream. */
  signal: CancelSignal;
  listener?: CallListener;
  /** Milliseconds that the call waited for a connection or a process. */
  onQueued?(ms: number): void;
}

/**
 * Taken from what really happened, never from what was known before. `reason` is a sentence for people; `retryAt`, in
 * milliseconds since the epoch, is when it is tried again without being asked.
 */
export type Health =
  | { state: 'starting' }
  | { state: 'ready' }
  /** It works, but lately a connection of it broke or stopped answering. */
  | { state: 'degraded'; reason: string; retryAt?: number }
  | { state: 'failed'; reason: string; retryAt?: number }
  | { state: 'stopped' };

/** A tool that is set aside because its definition is broken; its neighbours are not. */
export interface RejectedTool {
  name: string;
  reason: string;
}

/** Where a server was held within bounds: of what, a sentence for people, how often, and when last (milliseconds since the epoch). */
export interface Bounded {
  what: string;
  reason: string;
  times: number;
  lastAt: number;
}

export interface ToolList {
  tools: readonly ToolDefinition[];
  rejected: readonly RejectedTool[];
  /** What the server's answers said beside the tools: `_meta`, how long they keep, what no revision knows. */
  more?: JsonObject;
}

/**
 * What lists and calls tools: one upstream, or a set of our own functions.
 * A new kind is one file and one line in tests/contract.
 */
export interface ToolProvider {
  readonly id: string;
  readonly kind: ProviderKind;
  /** The current tools, without waiting; undefined while they have never been listed. */
  readonly listed: ToolList | undefined;
  /** `listed`, unless this session alone is shown other tools. */
  listedFor(sessionId: string): ToolList | undefined;
  readonly health: Health;
  /** Lists anew and waits for it; rejects with PROVIDER_UNAVAILABLE and the reason. */
  refresh(): Promise<ToolList>;
  /** Rejects only if the call could not be carried out; a tool's own failure is a result. */
  call(call: ProviderCall): Promise<ToolResult>;
  /** Ends everything that the session holds here: connections, processes. */
  endSession(sessionId: string): Promise<void>;
  close(): Promise<void>;
}

/** What an upstream said of itself when a connection to it was opened. */
export interface Opened {
  era: Era;
  version: string;
  capabilities: JsonObject;
  serverInfo?: JsonObject;
  instructions?: string;
  /** The result of initialize or server/discover as it came. */
  raw: JsonObject;
}

export interface RelayOptions {
  signal: CancelSignal;
  listener?: CallListener;
}

/** A provider that speaks MCP itself: what is no tool call is relayed to it message by message. */
export interface McpRelay extends ToolProvider {
  /** The last lines that its processes wrote on stderr, oldest first. */
  readonly stderr: readonly string[];
  /** What it sent too much of. */
  readonly bounded: readonly Bounded[];
  /** From its latest connection; undefined while there was none. */
  readonly about: Opened | undefined;
  /** Ends every connection at once; calls fail until `start`. */
  stop(): Promise<void>;
  /** Usable again, whatever failed before; rejects with PROVIDER_UNAVAILABLE and the reason. */
  start(): Promise<ToolList>;
  /** Takes no new calls, lets running ones finish, then closes; resolves when nothing is left. */
  retire(): Promise<void>;
  /** Other credentials from now on, of that principal or (undefined) of all. */
  changeCredentials(owner: string | undefined): Promise<void>;
  /** Opens the caller's connection if it is not open. */
  opened(caller: Caller): Promise<Opened>;
  /**
   * On the caller's connection; without a caller on the one that belongs to nobody, from which lists are read.
   * Rejects with the upstream's own RpcFailure unchanged.
   */
  request(
    caller: Caller | undefined,
    method: string,
    params: JsonObject | undefined,
    options: RelayOptions,
  ): Promise<unknown>;
  /** The least level of the log lines that the caller wants: told now if its connection is open, else when it opens. */
  setLogLevel(caller: Caller, level: unknown, options: RelayOptions): Promise<void>;
  /** Reaches the caller's connection if it is open. */
  notify(caller: Caller, method: string, params: JsonObject | undefined): void;
}

export function isRelay(provider: ToolProvider): provider is McpRelay {
  return provider.kind === 'mcp';
}
