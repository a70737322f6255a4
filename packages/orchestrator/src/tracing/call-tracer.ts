import type { JsonObject } from '@mcpbridge/shared/json-rpc.js';

/** What a span tells of a call; never its arguments or its result. */
export interface TracedCall {
  id: string;
  server: string;
  tool: string;
  kind: string;
  sessionId: string;
  client?: string | undefined;
  outcome: string;
  errorCode?: string;
  errorMessage?: string;
}

/** The spans of one call. */
export interface CallSpans {
  /** The call goes to its provider: what `_meta` says there so that the provider's spans join. */
  toProvider(call: TracedCall, meta: JsonObject | undefined): JsonObject;
  end(call: TracedCall): void;
}

/** Makes spans of calls; there is none while traces are off, and then a call pays nothing. */
export interface CallTracer {
  /** `meta`: of the request; with a `traceparent` the spans join the caller's trace. */
  begin(meta: JsonObject | undefined): CallSpans;
}
