import { createInterface } from 'node:readline';
import { isDeepStrictEqual } from 'node:util';
import { isObject, isRequest, type JsonObject, RPC } from '@mcpbridge/shared/json-rpc.js';
import { LATEST_LEGACY, LEGACY_VERSIONS } from '@mcpbridge/shared/protocol.js';
import { type ToolResult, textResult } from '@mcpbridge/shared/tools.js';
import type { RecordedCall } from '../sessions/session.js';
import { VERSION } from '../version.js';
import { readRecording } from './recording-file.js';

type Answer = { result: unknown } | { error: { code: number; message: string } };

/**
 * `main.js recording FILE`: an MCP server over stdio that answers as the recorded ones did, for tests of agents without
 * a network. Equal calls get the recorded answers in their order, and the last one from then on.
 */
export async function serveRecording(file: string): Promise<void> {
  const { head, calls } = await readRecording(file);
  const left = calls.map(({ call }) => call);
  const answers: Record<string, (params: JsonObject) => Answer> = {
    initialize: ({ protocolVersion }) => ({
      result: {
        protocolVersion: LEGACY_VERSIONS.find((version) => version === protocolVersion) ?? LATEST_LEGACY,
        capabilities: { tools: {} },
        serverInfo: { name: 'mcpbridge-recording', version: VERSION },
      },
    }),
    ping: () => ({ result: {} }),
    'tools/list': () => ({ result: { tools: head.tools } }),
    'tools/call': ({ name, arguments: args = {} }) => ({ result: recordedResult(left, String(name), args) }),
  };
  for await (const line of createInterface({ input: process.stdin })) {
    const message: unknown = line.trim() === '' ? undefined : JSON.parse(line);
    if (!isObject(message) || !isRequest(message)) continue;
    const answer = answers[message.method]?.(message.params ?? {}) ?? {
      error: { code: RPC.methodNotFound, message: `The recording has no ${message.method}.` },
    };
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: message.id, ...answer })}\n`);
  }
}

function recordedResult(left: RecordedCall[], name: string, args: unknown): ToolResult {
  const isAlike = (call: RecordedCall) => call.name === name && isDeepStrictEqual(call.arguments, args);
  const at = left.findIndex(isAlike);
  const call = left[at];
  if (!call) {
    const known = left.filter((one) => one.name === name).map((one) => JSON.stringify(one.arguments));
    const hint = known.length > 0 ? ` It was called with ${known.slice(0, 5).join(' and ')}.` : '';
    return textResult(`The recording has no call of "${name}" with these arguments.${hint}`, true);
  }
  if (left.some((other, index) => index > at && isAlike(other))) left.splice(at, 1);
  if (call.result !== undefined) return call.result as ToolResult;
  return textResult(`The recorded call failed: ${JSON.stringify(call.error)}`, true);
}
