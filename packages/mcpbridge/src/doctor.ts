import { existsSync } from 'node:fs';
import { messageOf } from '@mcpbridge/shared/errors.js';
import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';
import { LATEST_MODERN, META } from '@mcpbridge/shared/protocol.js';
import { collect, discard } from './attempt.js';
import { BridgeLog } from './bridge-log.js';
import { type Answer, Connection } from './connection.js';
import { MCP_HEADERS, modernHeaders, refusalOf } from './endpoint.js';
import type { BridgeSettings } from './settings.js';
import { Stop } from './stop.js';
import { SERVER_INFO } from './version.js';

const ANSWER_MS = 10_000;
const SILENT = `It took the request and did not answer within ${ANSWER_MS / 1000} s.`;

type Print = (line: string) => void;

/** Goes the way of a call step by step and says in plain words where it ends; true when it does not. */
export async function examine(settings: BridgeSettings, print: Print): Promise<boolean> {
  describe(settings, print);
  const connection = new Connection(settings, new BridgeLog(undefined));
  const stop = new Stop();
  setTimeout(() => stop.fire(new Error(SILENT)), ANSWER_MS).unref();
  try {
    await checkReady(connection, stop, print);
    if (!settings.tools) await checkTools(connection, stop, print);
    print('All is well.');
    return true;
  } catch (error) {
    print(`FAILED  ${messageOf(error)}`);
    return false;
  }
}

function describe(settings: BridgeSettings, print: Print): void {
  const { base, mcpPath, socket, token, tools, sessionId } = settings;
  print(`mcpbridge ${SERVER_INFO.version}`);
  print(
    `mode    ${tools ? `listed: the ${tools.length} tools of MCP_TOOLS` : 'transparent: all that is offered'}`,
  );
  print(`address ${base.href}${mcpPath === '/mcp' ? '' : ` (${mcpPath} alone)`}`);
  if (socket) print(`socket  ${socket}${existsSync(socket) ? '' : ' (not there; TCP is used)'}`);
  print(`token   ${describeToken(token)}`);
  print(`session ${sessionId ?? 'a fresh one for each process'}`);
}

function describeToken(token: BridgeSettings['token']): string {
  if (token.kind === 'given') return 'from MCP_API_TOKEN';
  if (token.kind === 'none') return 'none is set';
  return `from ${token.path}${existsSync(token.path) ? '' : ' (not there)'}`;
}

async function checkReady(connection: Connection, stop: Stop, print: Print): Promise<void> {
  const answer = await connection.send({ method: 'GET', path: '/ready', headers: [], stop }, 0);
  if (answer.status === 404)
    return print('ready   it answers, and has no /ready: an executor other than the orchestrator');
  if (answer.refusal) throw refusalOf(answer, answer.refusal, connection);
  discard(answer.stream);
  print('ready   yes');
}

/** The one round trip that has no effect. */
async function checkTools(connection: Connection, stop: Stop, print: Print): Promise<void> {
  const _meta = {
    [META.protocolVersion]: LATEST_MODERN,
    [META.clientInfo]: SERVER_INFO,
    [META.clientCapabilities]: {},
  };
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta } };
  const headers = [...MCP_HEADERS, ...(modernHeaders(message) ?? [])];
  const started = performance.now();
  const body = JSON.stringify(message);
  const answer = await connection.send({ method: 'POST', path: connection.mcpPath, headers, body, stop }, 0);
  if (answer.refusal) throw refusalOf(answer, answer.refusal, connection);
  const tools = await readTools(answer);
  print(`tools   ${tools.length}, listed in ${Math.round(performance.now() - started)} ms`);
}

async function readTools(answer: Answer): Promise<unknown[]> {
  const text = Buffer.concat(await collect(answer.stream)).toString('utf8');
  const result = parse(text).result;
  if (isObject(result) && Array.isArray(result.tools)) return result.tools;
  throw new Error(`tools/list was answered with something else: ${text.slice(0, 200)}`);
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
