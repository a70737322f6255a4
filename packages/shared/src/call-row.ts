/** What a person sees of a call's state; `failed` is also the tool's own failure, with the code TOOL_FAILED. */
export const CALL_STATUSES = ['running', 'waiting', 'ok', 'failed', 'refused', 'cancelled'] as const;
export type CallStatus = (typeof CALL_STATUSES)[number];

/** Who carried a call here, where that is not an MCP or REST client. */
export type CallOrigin = 'page' | 'replay' | 'agent' | 'call';

/**
 * A call in lists and streams, never with its payloads: as JSON at most 400 bytes where its names are of usual length.
 * What a call does not have is left out.
 */
export interface CallRow {
  /** Ids made later sort later. */
  id: string;
  /** Of the latest event of this call; grows. */
  seq: number;
  /** Start, in milliseconds since the epoch by the server's clock. */
  at: number;
  /** Duration in milliseconds; absent while it runs. */
  ms?: number;
  status: CallStatus;
  /** Of the table of errors (docs/errors.md), and where it arose. */
  code?: string;
  layer?: string;
  /** Why it failed, in at most 160 characters. */
  error?: string;
  principal: string;
  session: string;
  /** Name and version of the client. */
  client?: string;
  /** The folder that the client works in, by its last name. */
  project?: string;
  /** Absent: mcp. */
  kind?: string;
  server: string;
  tool: string;
  /** The beginning of the arguments as JSON, secrets blanked, at most 160 characters. */
  args: string;
  /** Bytes of the arguments. */
  in: number;
  /** Bytes of the result's texts and data. */
  out?: number;
  /** The call within which this one was made. */
  parent?: string;
  via?: CallOrigin;
}

/** Milliseconds of a call by what they were spent on; in this order they make up its duration. */
export interface CallTiming {
  /** Finding the tool, checking arguments, limits and policy. */
  rule: number;
  /** A person's yes. */
  waiting: number;
  /** The connection to the upstream, or its process. */
  queue: number;
  upstream: number;
  /** Bounding and answering. */
  shape: number;
}

/** What came between a call's start and its result. */
export interface CallNote {
  /** Milliseconds after the start. */
  ms: number;
  kind: 'progress' | 'log';
  /** `params` of the notification. */
  params: unknown;
}

/** `GET /api/calls/{id}`. */
export interface CallDetails extends CallRow {
  /** The value where it was kept whole, else the beginning of its JSON. */
  arguments: unknown;
  /** Bytes of the arguments that are not kept. */
  argumentsCut?: number;
  /** The tool's answer whole, secrets blanked; absent while there is none, and where it is large (`resultBytes`). */
  result?: unknown;
  /** Bytes of the result as JSON; without `result` it is at /api/calls/{id}/result where `resultKept`. */
  resultBytes?: number;
  resultKept?: boolean;
  /** The whole sentence. */
  message?: string;
  timing?: CallTiming;
  notes?: CallNote[];
  /** The call that this one repeats. */
  replayOf?: string;
  /** Calls that repeat this one, newest first. */
  replays?: string[];
}
