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

/** A server that speaks on stdin and stdout of a container, which is made for each connection. */
export interface DockerTransportEntry {
  kind: 'docker';
  image: string;
  /** In the place of the image's own; empty: the image's own. */
  command: string[];
  mounts: DockerMount[];
  env: Record<string, string>;
  memoryBytes?: number;
  /** Processors, also parts of one. */
  cpus?: number;
  /** Undefined: the engine's default network. */
  network?: string;
}

export interface DockerMount {
  /** A folder or file of the engine's machine, or a named volume of the engine. */
  kind: 'bind' | 'volume';
  source: string;
  target: string;
  readOnly: boolean;
}

/** One upstream as configured, with every `${VAR}` replaced. */
export interface ServerEntry {
  id: string;
  transport: StdioTransportEntry | HttpTransportEntry | DockerTransportEntry;
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
