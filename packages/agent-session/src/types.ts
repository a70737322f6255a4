import type { BridgeConfig, BridgeToolEntry } from 'mcpbridge/client-config.js';
import type { ClientName, Launched, LaunchOptions } from './launch-types.js';

export type { BridgeConfig, BridgeToolEntry };

export type JsonSchema = Record<string, unknown>;

/**
 * What a schema library offers under `~standard` (https://standardschema.dev), as far as it is used here. The
 * `jsonSchema` part is how the model is told of the arguments; a schema without it is refused.
 */
export interface StandardSchema<Output = unknown> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly jsonSchema?: { readonly input: (options: { target: 'draft-2020-12' }) => JsonSchema };
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
  };
}

export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

export type InputSchema = JsonSchema | StandardSchema;

/** What a handler gets: what the schema library makes of the arguments, or the checked arguments as they came. */
export type ArgumentsOf<Schema> =
  Schema extends StandardSchema<infer Output> ? Output : Record<string, unknown>;

export interface ToolContext {
  /** Aborted when nobody waits any more: the call was cancelled, its client ended, or the session was closed. */
  signal: AbortSignal;
  sessionId: string;
}

export interface AgentTool<Schema = InputSchema> {
  /** 1 to 46 letters, digits, `_` and `-`: what every client can show its model unchanged. */
  name: string;
  description: string;
  /** Without one the tool takes any object. */
  inputSchema?: Schema;
  title?: string;
  annotations?: Record<string, unknown>;
  outputSchema?: JsonSchema;
  /**
   * Answers text, anything that JSON can say, or a whole MCP result (`{content: [{type: …}]}`). What it throws is
   * told to the model as the tool's failure.
   */
  handler(args: ArgumentsOf<Schema>, context: ToolContext): unknown;
}

export interface OrchestratorAddress {
  /** With or without `/api`. */
  url: string;
  token: string;
}

export interface AgentSessionOptions<Schemas extends readonly unknown[] = readonly InputSchema[]> {
  tools: { readonly [Index in keyof Schemas]: AgentTool<Schemas[Index]> };
  /** Told to the model as this server's instructions. */
  instructions?: string;
  /** With one, the four platform tools are offered as well, and their calls go there. */
  orchestrator?: OrchestratorAddress;
  /**
   * More of the orchestrator's tools, for this session alone: by the name that it lists, looked up there when the
   * session is made, or as an entry of `MCP_TOOLS`.
   */
  additionalBridgeTools?: readonly (string | BridgeToolEntry)[];
  /** 1 to 128 letters, digits, `_`, `.`, `:` or `-`; a fresh random one by default. */
  sessionId?: string;
}

export interface AgentSession {
  readonly id: string;
  /** What goes under the bridge's name in a client's `mcpServers`; good until the session is closed. */
  bridgeConfig(): BridgeConfig;
  /** Runs an agent's CLI, found on PATH, with this session's tools as its only MCP server. */
  launch(client: ClientName, options: LaunchOptions): Launched;
  /** Ends what was launched, aborts running calls, takes the tools away. */
  close(): Promise<void>;
}
