import type { CallOrigin } from '@mcpbridge/shared/call-row.js';
import type { Cancel } from '@mcpbridge/shared/cancel.js';
import type { JsonObject, RpcId } from '@mcpbridge/shared/json-rpc.js';
import type { Target } from '../catalog/catalog.js';
import type { CallListener } from '../providers/provider.js';
import type { Session } from '../sessions/session.js';

/** A call as it comes to the pipeline. */
export interface CallRequest {
  session: Session;
  target: Target;
  /** As they came; checked here. */
  args: unknown;
  meta?: JsonObject;
  /** What the client sent beside these, for the provider. */
  more?: JsonObject;
  /** Aborted by whoever carries the call when its caller goes away or cancels, and by the deadline here. */
  abort: Cancel;
  listener?: CallListener;
  /** Name and version of the client, for the record. */
  client?: string;
  /** The record's id, made by whoever wants to know it before the call is over. */
  id?: string;
  /** Of the JSON-RPC request, as the client's own log has it. */
  requestId?: RpcId | undefined;
  /** The call within which this one is made. */
  parent?: string | undefined;
  via?: CallOrigin | undefined;
  /** The call that this one repeats. */
  replayOf?: string;
  /** The caller's own id of it: with one it is carried out once, however often it comes. */
  callId?: string;
  /** The caller does not wait for a person's yes: it asks again. Needs `callId`. */
  isAsync?: boolean;
}
