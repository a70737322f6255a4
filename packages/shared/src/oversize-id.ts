import type { RpcId } from './json-rpc.js';

const TOKEN = /[^"{}[\]]+|"(?:[^"\\]|\\.)*"|[{}[\]]/y;
const VALUE = /\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)\s*[,}]/y;
/** `"id": …` as a member of the outermost object, with nothing but plain members behind it. */
const LAST_MEMBERS =
  /[,{]\s*"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)\s*(?:,\s*"\w+"\s*:\s*(?:"(?:[^"\\]|\\.)*"|[\w.+-]+)\s*)*\}\s*$/;

/**
 * The JSON-RPC id of a message that was dropped for its size, from its first and last bytes; null when neither
 * shows it. The MCP SDKs write the id last, most others first.
 */
export function oversizeId(head: Buffer, tail: Buffer): RpcId | null {
  return idInHead(head.toString('utf8')) ?? idInTail(tail.toString('utf8'));
}

function idInHead(text: string): RpcId | null {
  let depth = 0;
  TOKEN.lastIndex = 0;
  for (let match = TOKEN.exec(text); match; match = TOKEN.exec(text)) {
    const [token] = match;
    if (token === '{' || token === '[') depth++;
    else if (token === '}' || token === ']') depth--;
    else if (token === '"id"' && depth === 1) {
      VALUE.lastIndex = TOKEN.lastIndex;
      const value = VALUE.exec(text)?.[1];
      if (value !== undefined) return JSON.parse(value);
    }
  }
  return null;
}

function idInTail(text: string): RpcId | null {
  const value = LAST_MEMBERS.exec(text)?.[1];
  return value === undefined ? null : JSON.parse(value);
}
