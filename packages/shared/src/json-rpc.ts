/** JSON-RPC 2.0 messages as MCP uses them. */
export type JsonObject = Record<string, unknown>;
export type RpcId = string | number;

export interface RpcRequest {
  jsonrpc: '2.0';
  id: RpcId;
  method: string;
  params?: JsonObject;
}

export interface RpcNotification {
  jsonrpc: '2.0';
  method: string;
  params?: JsonObject;
}

export interface RpcError {
  code: number;
  message: string;
  data?: unknown;
}

export interface RpcResponse {
  jsonrpc: '2.0';
  /** null only in an answer to a message whose id could not be read. */
  id: RpcId | null;
  result?: unknown;
  error?: RpcError;
}

export type RpcMessage = RpcRequest | RpcNotification | RpcResponse;

/** JSON-RPC and MCP error codes; the negative thirty-twos of the modern era are from the 2026-07-28 schema. */
export const RPC = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  headerMismatch: -32020,
  missingCapability: -32021,
  unsupportedVersion: -32022,
} as const;

/** A JSON-RPC error that came from, or is meant for, the other side; code and data travel unchanged. */
export class RpcFailure extends Error {
  constructor(
    readonly code: number,
    message: string,
    readonly data?: unknown,
  ) {
    super(message);
    this.name = 'RpcFailure';
  }

  toError(): RpcError {
    const { code, message, data } = this;
    return data === undefined ? { code, message } : { code, message, data };
  }
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isRpcId(value: unknown): value is RpcId {
  return typeof value === 'string' || typeof value === 'number';
}

/** True for anything with a method: a request when it has an id, else a notification. */
export function isCall(message: JsonObject): message is JsonObject & (RpcRequest | RpcNotification) {
  return typeof message.method === 'string';
}

export function isRequest(message: JsonObject): message is JsonObject & RpcRequest {
  return typeof message.method === 'string' && isRpcId(message.id);
}

export function isResponse(message: JsonObject): message is JsonObject & RpcResponse {
  return message.method === undefined && ('result' in message || 'error' in message);
}
