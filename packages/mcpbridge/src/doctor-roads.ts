import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { isObject, type JsonObject, RpcFailure } from '@mcpbridge/shared/json-rpc.js';
import { HEADER } from '@mcpbridge/shared/wire.js';
import { Credentials } from './credentials.js';
import type { Road } from './doctor-views.js';
import type { BridgeSettings } from './settings.js';

/** A server may have to be started for its first answer. */
const ANSWER_MS = 60_000;

/** Plain HTTP to the orchestrator, by other code than the bridge's. */
export function httpRoad(settings: BridgeSettings, path: string): Road {
  const address = addressOf(settings, path);
  const headers = httpHeaders(settings);
  const send = async (method: string, body?: JsonObject) => {
    const response = await fetch(address, {
      method,
      headers,
      signal: AbortSignal.timeout(ANSWER_MS),
      ...(body ? { body: JSON.stringify({ jsonrpc: '2.0', ...body }) } : {}),
    });
    const session = response.headers.get(HEADER.mcpSession);
    if (session) headers[HEADER.mcpSession] = session;
    return response.text();
  };
  return {
    ask: async (method, params) => readAnswer(await send('POST', request(1, method, params)), method),
    tell: async (method) => void (await send('POST', { method })),
    close: async () => void (await send('DELETE')),
  };
}

/** This very program as a client would start it, over its pipes. */
export function bridgeRoad(settings: BridgeSettings, path: string, env: NodeJS.ProcessEnv): Road {
  const own = {
    ...env,
    MCP_API_URL: addressOf(settings, path),
    MCP_TOOLS: '',
    MCP_TOOLS_FILE: '',
    MCP_READY_FILE: '',
  };
  const child = spawn(process.execPath, [String(process.argv[1])], {
    env: own,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const waiting = new Map<unknown, (line: string) => void>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { id, method } = parse(line);
    if (method === undefined) waiting.get(id)?.(line);
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.once('exit', () => {
    for (const take of waiting.values()) take('');
  });
  let asked = 0;
  const write = (message: JsonObject) =>
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  return {
    ask: async (method, params) => {
      const id = ++asked;
      const answer = new Promise<string>((resolve) => waiting.set(id, resolve));
      write(request(id, method, params));
      return readAnswer(await within(answer, method), method);
    },
    tell: async (method) => void write({ method }),
    close: async () => {
      child.stdin.end();
      await ended;
    },
  };
}

/** An answer of the orchestrator's own API; undefined when it has no such address. */
export async function readApi(settings: BridgeSettings, path: string): Promise<JsonObject | undefined> {
  const response = await fetch(addressOf(settings, path), {
    headers: httpHeaders(settings),
    signal: AbortSignal.timeout(ANSWER_MS),
  });
  const body = parse(await response.text());
  if (response.ok) return body;
  if (response.status === 404 && !isObject(body.error)) return undefined;
  throw new Error(
    isObject(body.error) ? String(body.error.message) : `${path} was answered with ${response.status}.`,
  );
}

function addressOf({ base }: BridgeSettings, path: string): string {
  return base.href.replace(/\/$/, '') + path;
}

function httpHeaders({ token, sessionId }: BridgeSettings): Record<string, string> {
  const secret = new Credentials(token).token;
  return {
    'content-type': 'application/json',
    accept: 'application/json',
    ...(secret ? { authorization: `Bearer ${secret}` } : {}),
    ...(sessionId ? { [HEADER.session]: sessionId } : {}),
  };
}

function request(id: number, method: string, params: JsonObject | undefined): JsonObject {
  return params ? { id, method, params } : { id, method };
}

function readAnswer(text: string, method: string): JsonObject {
  if (text === '') throw new Error(`${method} had no answer.`);
  const { result, error } = parse(text);
  if (isObject(result)) return result;
  if (isObject(error)) throw new RpcFailure(Number(error.code), `${method}: ${error.message}`, error.data);
  throw new Error(`${method} was answered with something else: ${text.slice(0, 200)}`);
}

function parse(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    // Said by the caller, with the text.
    return {};
  }
}

async function within<T>(answer: Promise<T>, method: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const error = new Error(`${method} had no answer within ${ANSWER_MS / 1000} s.`);
    timer = setTimeout(() => reject(error), ANSWER_MS);
  });
  return Promise.race([answer, late]).finally(() => clearTimeout(timer));
}
