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
  /** How we sign in there; absent: with the headers, or as the server asks for it. */
  oauth?: OAuthEntry;
  /** It may lead to this machine and its networks, whatever its address looks like. */
  allowPrivate?: boolean;
}

/** How we sign in at a server's login service. */
export interface OAuthEntry {
  /** Where the tokens are kept; absent: in the orchestrator's own folder. */
  tokenFile?: string;
  /** Of a registration by hand; absent: by our metadata document, or we register ourselves. */
  clientId?: string;
  clientSecret?: string;
  /** A metadata document of ours that others can read. */
  clientMetadataUrl?: string;
  /** The login service that the client id belongs to; it is sent to no other. */
  issuer?: string;
  /** Separated by spaces; absent: what the server asks for. */
  scope?: string;
  /** The way back of a registration by hand, where it is not the orchestrator's own. */
  redirectUri?: string;
  /** Whose the tokens are: one account for all, or one of each principal. */
  per: 'server' | 'principal';
  /** By a person in a browser, or as a machine with a secret or a key of its own. */
  grant: 'authorization_code' | 'client_credentials';
  /** PEM, of a machine that shows a signature in the place of a secret. */
  privateKey?: string;
  algorithm?: string;
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
  /** Processes kept ready for sessions to come; for a shared server: keep its connection open. Absent: none. */
  warm?: number;
  /** Calls that work on one thing, named by these arguments, run one after the other. */
  turns?: { tools: RegExp; arguments: string[] }[];
  description?: string;
}

/** A server of the file: usable, switched off, or with the faults that keep it from use, one line each. */
export type ConfiguredServer =
  | { id: string; origin: 'base' | 'overlay'; state: 'usable'; entry: ServerEntry; raw: JsonObject }
  | { id: string; origin: 'base' | 'overlay'; state: 'disabled'; raw: JsonObject }
  | { id: string; origin: 'base' | 'overlay'; state: 'faulty'; faults: string[]; raw: JsonObject };
