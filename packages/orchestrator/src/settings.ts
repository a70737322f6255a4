import { dirname, join, resolve } from 'node:path';
import { type DialectName, readDialectName, unknownDialect } from '@mcpbridge/shared/dialect-names.js';
import { parseDuration } from '@mcpbridge/shared/duration.js';
import { AppError } from '@mcpbridge/shared/errors.js';
import { homeFolder } from '@mcpbridge/shared/locate.js';

/** Everything that the environment decides. This file is the only reader of `process.env`. */
export interface Settings {
  host: string;
  port: number;
  /** Token, sockets and store. */
  home: string;
  configFile: string;
  /** The tools as they were accepted; empty: there is no such file. */
  lockFile: string;
  workspaceFolder: string;
  logLevel: string;
  /** Host names besides the loopback ones under which requests may arrive. */
  allowedHosts: string[];
  /** Hosts besides the loopback ones at which custom tools may be called. */
  callbackHosts: string[];
  /** Milliseconds a call may take where its server says nothing; 0: no limit. */
  callTimeoutMs: number;
  /** Milliseconds an upstream connection may be unused. */
  idleTimeoutMs: number;
  /** Processes and containers of all servers together. */
  maxProcesses: number;
  /** Of all MCP clients that ask for none; undefined: by who each says it is. */
  dialect: DialectName | undefined;
  /** Bytes of one request body. */
  maxBodyBytes: number;
  /** Bytes of one message of an upstream. */
  maxMessageBytes: number;
  /** What `${VAR}` in the configuration may name, and what the allow-list for child processes picks from. */
  env: NodeJS.ProcessEnv;
}

const MIB = 1024 * 1024;

export function readSettings(env: NodeJS.ProcessEnv = process.env): Settings {
  const configFile = resolve(env.MCP_CONFIG || 'mcp_servers.json');
  return {
    host: env.HOST || '127.0.0.1',
    port: port(env.PORT),
    home: homeFolder(env),
    configFile,
    lockFile: join(dirname(configFile), 'mcp.lock'),
    workspaceFolder: resolve(env.WORKSPACE_DIR || 'workspace'),
    logLevel: env.LOG_LEVEL || 'info',
    allowedHosts: names(env.ALLOWED_HOSTS),
    callbackHosts: names(env.CALLBACK_HOSTS),
    callTimeoutMs: duration('TOOL_EXECUTION_TIMEOUT', env.TOOL_EXECUTION_TIMEOUT, 90 * 60_000),
    idleTimeoutMs: duration('UPSTREAM_IDLE_TIMEOUT', env.UPSTREAM_IDLE_TIMEOUT, 5 * 60_000),
    maxProcesses: count('MAX_UPSTREAM_PROCESSES', env.MAX_UPSTREAM_PROCESSES, 256),
    dialect: dialect(env.MCP_DIALECT),
    maxBodyBytes: 24 * MIB,
    maxMessageBytes: 64 * MIB,
    env,
  };
}

function port(text: string | undefined): number {
  const value = text ? Number(text) : 8080;
  if (Number.isInteger(value) && value >= 0 && value <= 65_535) return value;
  throw new AppError(
    'CONFIG_INVALID',
    `PORT is "${text}"; set it to a number from 0 to 65535 (0: any free port).`,
  );
}

function dialect(text: string | undefined): DialectName | undefined {
  const name = text ? readDialectName(text) : undefined;
  if (text && name === undefined) throw new AppError('CONFIG_INVALID', unknownDialect('MCP_DIALECT', text));
  return name;
}

function names(text = ''): string[] {
  return text
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter(Boolean);
}

function count(name: string, text: string | undefined, fallback: number): number {
  const value = text ? Number(text) : fallback;
  if (Number.isInteger(value) && value > 0) return value;
  throw new AppError('CONFIG_INVALID', `${name} is "${text}"; set it to a whole number from 1 up.`);
}

function duration(name: string, text: string | undefined, fallback: number): number {
  if (!text) return fallback;
  const value = parseDuration(text);
  if (value !== undefined) return value;
  throw new AppError(
    'CONFIG_INVALID',
    `${name} is "${text}"; set it to a time such as 30s, 5m or 1h (0: no limit).`,
  );
}
