import type { JsonObject } from './json-rpc.js';

/** W3C Trace Context: in headers, in `_meta`, in the environment under these names. */
export interface TraceContext {
  traceparent: string;
  tracestate?: string;
}

const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;
const TRACESTATE = /^[\x20-\x7e]{1,512}$/;

/** What these two values say; undefined when the first is none, as nearly always. */
export function traceContext(traceparent: unknown, tracestate?: unknown): TraceContext | undefined {
  if (typeof traceparent !== 'string' || !TRACEPARENT.test(traceparent)) return undefined;
  return typeof tracestate === 'string' && TRACESTATE.test(tracestate)
    ? { traceparent, tracestate }
    : { traceparent };
}

export function traceInMeta(meta: JsonObject | undefined): TraceContext | undefined {
  return meta?.traceparent === undefined ? undefined : traceContext(meta.traceparent, meta.tracestate);
}
