import { AppError, ERROR_TABLE, failureText } from '@mcpbridge/shared/errors.js';
import type { JsonObject } from '@mcpbridge/shared/json-rpc.js';
import { type ToolDefinition, type ToolResult, textResult } from '@mcpbridge/shared/tools.js';
import type { FunctionTool } from '../function-provider.js';
import type { ProviderCall } from '../provider.js';
import type { WorkspaceRequest } from './workspace-client.js';

/** A request to the workspace under the guard of the call's session, ended with the call. */
export type AskWorkspace = (call: ProviderCall, request: WorkspaceRequest) => Promise<JsonObject>;

/** A tool whose failures are results, as far as they are about what was asked: a path, a version, a diff that does not fit. */
export function workspaceTool(
  definition: ToolDefinition,
  run: (call: ProviderCall) => Promise<ToolResult>,
): FunctionTool {
  const answer = (call: ProviderCall) =>
    run(call).catch((thrown) => {
      if (!(thrown instanceof AppError) || thrown.status >= 499) throw thrown;
      const { layer } = ERROR_TABLE[thrown.code];
      return textResult(failureText({ message: thrown.message, code: thrown.code, layer }), true);
    });
  return { definition, run: answer };
}

/** The query of an address, without what is not given. */
export function queryText(values: JsonObject): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) if (value !== undefined) query.set(name, String(value));
  return query.size > 0 ? `?${query}` : '';
}

/** A path as part of an address: slashes stay, so that the routes see its parts. */
export function inAddress(path: unknown): string {
  return String(path).split('/').map(encodeURIComponent).join('/');
}
