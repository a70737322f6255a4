import { isObject, type RpcResponse } from '@mcpbridge/shared/json-rpc.js';

/** From so many on, the list weighs more than all else of its answer. */
const MANY = 100;
/** What stands for the list until its text is put there; no JSON text holds it otherwise. */
const PLACE = '\u0000tools\u0000';
const texts = new WeakMap<readonly unknown[], string>();

/** The JSON of an answer; a long list of tools is written once and kept for as long as the list itself. */
export function jsonOf(message: RpcResponse): string {
  const { result } = message;
  if (!isObject(result) || !Array.isArray(result.tools) || result.tools.length < MANY)
    return JSON.stringify(message);
  const around = JSON.stringify({ ...message, result: { ...result, tools: PLACE } });
  return around.replace(JSON.stringify(PLACE), () => textOf(result.tools as unknown[]));
}

function textOf(tools: readonly unknown[]): string {
  let text = texts.get(tools);
  if (text === undefined) {
    text = JSON.stringify(tools);
    texts.set(tools, text);
  }
  return text;
}
