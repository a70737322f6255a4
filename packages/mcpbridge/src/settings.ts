import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { type BridgeTool, BridgeToolsError, parseBridgeTools } from '@mcpbridge/shared/bridge-tools.js';
import { type DialectName, readDialectName, unknownDialect } from '@mcpbridge/shared/dialect-names.js';
import { parseDuration } from '@mcpbridge/shared/duration.js';
import { messageOf } from '@mcpbridge/shared/errors.js';
import { baseUrl, homeFolder, isLoopback, socketFile, tokenFile } from '@mcpbridge/shared/locate.js';
import { type TraceContext, traceContext } from '@mcpbridge/shared/trace-context.js';
import { SESSION_ID } from '@mcpbridge/shared/wire.js';
import type { TokenSource } from './credentials.js';

/** Everything that the environment decides. */
export interface BridgeSettings {
  /** The executor's address without `/api`. */
  base: URL;
  /** Where MCP is spoken below `base`: `/mcp`, or `/mcp/{server}` for one server under its own names. */
  mcpPath: string;
  /** Path under which `/tools/…` is called, just as it was given: with `/api` or without. */
  toolsPath: string;
  token: TokenSource;
  /** Where the orchestrator of this user and machine may listen besides TCP. */
  socket: string | undefined;
  /** Absent: a random one, which ends with this process. */
  sessionId: string | undefined;
  virtualScope: string | undefined;
  /** The last name of the folder that the client works in; undefined at the root. */
  project: string | undefined;
  /** Present: listed mode. */
  tools: BridgeTool[] | undefined;
  /** What listed mode tells the model of its tools as a whole. */
  instructions: string | undefined;
  /** How tools are named and described; undefined: as the orchestrator has it for this client. */
  dialect: DialectName | undefined;
  /** 0: no limit. */
  toolTimeoutMs: number;
  connectTimeoutMs: number;
  outputFolder: string | undefined;
  /** The trace that this bridge's calls belong to, unless they name another. */
  trace: TraceContext | undefined;
  readyFile: string | undefined;
  logFile: string | undefined;
}

/** A value that cannot be used; the message is one line that says what to set. */
export class SettingsError extends Error {}

const LISTED_TIMEOUT_MS = 90 * 60_000;
const CONNECT_TIMEOUT_MS = 10_000;
/** A timer of Node that is set to more fires at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export function readBridgeSettings(env: NodeJS.ProcessEnv): BridgeSettings {
  const given = env.MCP_API_URL || 'http://127.0.0.1:8080';
  const { base, mcpPath } = address(given);
  const local = isLoopback(base.hostname);
  const home = homeFolder(env);
  const tools = readTools(env);
  return {
    base,
    mcpPath,
    toolsPath: new URL(given).pathname.replace(/\/+$/, ''),
    token: tokenSource(env, local ? tokenFile(home) : undefined),
    socket: local && base.protocol === 'http:' ? socketFile(home, Number(base.port || 80)) : undefined,
    sessionId: sessionId(env.MCP_SESSION_ID),
    project: basename(process.cwd()) || undefined,
    virtualScope: headerText('MCP_VIRTUAL_SCOPE_ID', env.MCP_VIRTUAL_SCOPE_ID),
    tools,
    instructions: instructions(env.MCP_INSTRUCTIONS_FILE),
    dialect: dialect(env.MCP_DIALECT),
    toolTimeoutMs: duration('MCP_TOOL_TIMEOUT', env.MCP_TOOL_TIMEOUT, tools ? LISTED_TIMEOUT_MS : 0),
    connectTimeoutMs: duration('MCP_CONNECT_TIMEOUT', env.MCP_CONNECT_TIMEOUT, CONNECT_TIMEOUT_MS),
    outputFolder: env.MCP_TOOL_OUTPUT_DIR || undefined,
    trace: traceContext(env.TRACEPARENT, env.TRACESTATE),
    readyFile: env.MCP_READY_FILE || undefined,
    logFile: env.MCP_BRIDGE_LOG || undefined,
  };
}

/** The MCP endpoint itself is taken for an address as well. */
const MCP_END = /\/mcp(?:\/(?!api\/*$)[^/]+)?\/*$/;

function address(given: string): Pick<BridgeSettings, 'base' | 'mcpPath'> {
  try {
    const url = new URL(given);
    const named = MCP_END.exec(url.pathname)?.[0] ?? '';
    url.pathname = url.pathname.slice(0, url.pathname.length - named.length);
    return { base: baseUrl(url.href), mcpPath: named.replace(/\/+$/, '') || '/mcp' };
  } catch {
    // The reason is always the same: it is no address that HTTP can use.
    throw new SettingsError(
      `MCP_API_URL is "${given}": set it to an http or https address such as http://127.0.0.1:8080.`,
    );
  }
}

function tokenSource(env: NodeJS.ProcessEnv, ownFile: string | undefined): TokenSource {
  const token = headerText('MCP_API_TOKEN', env.MCP_API_TOKEN);
  if (token) return { kind: 'given', token };
  if (env.MCP_API_TOKEN_FILE) return { kind: 'file', path: env.MCP_API_TOKEN_FILE };
  return ownFile ? { kind: 'file', path: ownFile } : { kind: 'none' };
}

function readTools(env: NodeJS.ProcessEnv): BridgeTool[] | undefined {
  if (env.MCP_TOOLS && env.MCP_TOOLS_FILE) {
    throw new SettingsError('MCP_TOOLS and MCP_TOOLS_FILE are both set: unset one of them.');
  }
  try {
    if (env.MCP_TOOLS) return parseBridgeTools(env.MCP_TOOLS);
    if (env.MCP_TOOLS_FILE)
      return parseBridgeTools(readToolsFile(env.MCP_TOOLS_FILE), `MCP_TOOLS_FILE ${env.MCP_TOOLS_FILE}`);
  } catch (error) {
    if (error instanceof BridgeToolsError) throw new SettingsError(error.message);
    throw error;
  }
  return undefined;
}

function readToolsFile(path: string): string {
  return readText('MCP_TOOLS_FILE', path, 'Set it to a file with a JSON array of tools.');
}

function instructions(path: string | undefined): string | undefined {
  return path && (readText('MCP_INSTRUCTIONS_FILE', path, 'Set it to a file with a text.') || undefined);
}

function readText(name: string, path: string, remedy: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new SettingsError(`${name} cannot be read: ${messageOf(error)}. ${remedy}`);
  }
}

function sessionId(text: string | undefined): string | undefined {
  if (!text || SESSION_ID.test(text)) return text || undefined;
  throw new SettingsError(
    `MCP_SESSION_ID is "${text}": use 1 to 128 letters, digits, "_", ".", ":" or "-", or unset it for a fresh one.`,
  );
}

function dialect(text: string | undefined): DialectName | undefined {
  const name = text ? readDialectName(text) : undefined;
  if (text && name === undefined) throw new SettingsError(unknownDialect('MCP_DIALECT', text));
  return name;
}

function headerText(name: string, text: string | undefined): string | undefined {
  const value = text?.trim();
  if (!value || /^[\x21-\x7e]+$/.test(value)) return value || undefined;
  throw new SettingsError(`${name} has characters that no HTTP header carries: set it to plain ASCII.`);
}

function duration(name: string, text: string | undefined, fallback: number): number {
  if (!text) return fallback;
  const value = parseDuration(text);
  if (value !== undefined) return Math.min(value, LONGEST_TIMER_MS);
  throw new SettingsError(`${name} is "${text}": set it to a time such as 500ms, 30s, 5m or 1h (0: none).`);
}
