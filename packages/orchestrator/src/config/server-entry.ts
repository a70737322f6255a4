import type { JsonObject } from '@mcpbridge/shared/json-rpc.js';

export interface StdioTransportEntry {
  kind: 'stdio';
  command: string;
  args: string[];
  /** Added to the allow-listed part of our own environment. */
  env: Record<string, string>;
  cwd?: string;
}

export interface HttpTransportEntry {
  /** `http` is Streamable HTTP, `sse` the older HTTP with server-sent events. */
  kind: 'http' | 'sse';
  url: string;
  headers: Record<string, string>;
}

/** One upstream as configured, with every `${VAR}` replaced. */
export interface ServerEntry {
  id: string;
  transport: StdioTransportEntry | HttpTransportEntry;
  /** `session`: each session has its own connection. `shared`: all use one. */
  isolation: 'session' | 'shared';
  /** Deadline of a call in milliseconds; undefined: the orchestrator's own. */
  timeoutMs?: number;
  /** Time for the start and the handshake, in milliseconds; undefined: the orchestrator's own. */
  startTimeoutMs?: number;
  description?: string;
}

/** A server of the file: usable, switched off, or with the faults that keep it from use, one line each. */
export type ConfiguredServer =
  | { id: string; origin: 'base' | 'overlay'; state: 'usable'; entry: ServerEntry; raw: JsonObject }
  | { id: string; origin: 'base' | 'overlay'; state: 'disabled'; raw: JsonObject }
  | { id: string; origin: 'base' | 'overlay'; state: 'faulty'; faults: string[]; raw: JsonObject };
