import type { RpcId } from '@mcpbridge/shared/json-rpc.js';
import type { CallRecord } from './store/call-log.js';

/** A call in the log: `session` and `request` are what the bridge's own log has of it, `call` is its id in the record. */
export function lineOf(record: CallRecord, request: RpcId | undefined): object {
  const { id: call, sessionId: session, client, server, tool, outcome, errorCode: code, durationMs } = record;
  return {
    call,
    session,
    request,
    client,
    server,
    tool,
    outcome,
    code,
    ms: Math.round(durationMs * 10) / 10,
  };
}
