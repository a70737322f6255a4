import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type DialectName, readDialectName, unknownDialect } from '@mcpbridge/shared/dialect-names.js';
import { parseDuration } from '@mcpbridge/shared/duration.js';
import { AppError } from '@mcpbridge/shared/errors.js';
import { homeFolder, isLoopback } from '@mcpbridge/shared/locate.js';
import { secretFile } from '@mcpbridge/shared/secret-file.js';
import { readScopeRights, type ScopeRights, USUAL_SCOPES } from './auth/oauth-rights.js';
import type { VisionSettings } from './providers/vision/vision-model.js';
import type { TraceProtocol } from './tracing/opentelemetry.js';
import { readSealingKey } from './vault/sealing-key.js';

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
  /** A workspace that runs as a program of its own; undefined: it is part of this one. */
  workspace: { url: string; token: string } | undefined;
  /** The built dashboard. */
  pageFolder: string;
  /** The built bridge. */
  bridgeFile: string;
  logLevel: string;
  /** Where others reach us, without a path; empty: at the loopback address. */
  publicUrl: string;
  /** Host names besides the loopback ones under which requests may arrive. */
  allowedHosts: string[];
  /** Hosts besides the loopback ones at which custom tools may be called. */
  callbackHosts: string[];
  /** Ports at which whoever has but a session's token may have its tools called, from and to; undefined: any. */
  callbackPorts: [number, number][] | undefined;
  /** Milliseconds a call may take where its server says nothing; 0: no limit. */
  callTimeoutMs: number;
  /** Milliseconds an upstream connection may be unused. */
  idleTimeoutMs: number;
  /** Login services whose tokens let people in; undefined: there are none. */
  oauth: OAuthSettings | undefined;
  /** Milliseconds that a login service has for an answer. */
  loginTimeoutMs: number;
  /** Milliseconds a call waits for a person's yes. */
  approvalTimeoutMs: number;
  /** Processes and containers of all servers together. */
  maxProcesses: number;
  /** A browser for `agent_browser`; empty: the first that is found. */
  browserPath: string;
  /** Where it may go besides public addresses. */
  browserHosts: string[];
  /** The model that `read_image` asks; undefined: it answers the image. */
  vision: VisionSettings | undefined;
  /** Of all MCP clients that ask for none; undefined: by who each says it is. */
  dialect: DialectName | undefined;
  /** Bytes of one request body. */
  maxBodyBytes: number;
  /** Bytes of one message of an upstream. */
  maxMessageBytes: number;
  /** How long calls are kept, and in how much room. */
  retention: { ageMs: number; bytes: number };
  /** How traces are sent; undefined: there are none. Where to, and how many, OpenTelemetry's SDK reads by itself. */
  traces: TraceProtocol | undefined;
  /** Seals secrets in the store, 32 bytes; undefined: there is a file for it in `home`. */
  secretsKey: Uint8Array | undefined;
  /** What `${VAR}` in the configuration may name, and what the allow-list for child processes picks from. */
  env: NodeJS.ProcessEnv;
}

export interface OAuthSettings {
  /** The first is that of the dashboard's login. */
  issuers: string[];
  /** What tokens may be for besides our own address. */
  audience: string[];
  scopes: Record<string, ScopeRights>;
  /** A claim whose values count like scopes. */
  claim: string | undefined;
  /** Subjects and e-mail addresses of those who may do everything. */
  admins: string[];
  /** As which client the dashboard logs in; undefined: it does not. */
  client: { id: string; secret: string | undefined; scope: string } | undefined;
}

const MIB = 1024 * 1024;
const DAY_MS = 24 * 60 * 60_000;

export function readSettings(env: NodeJS.ProcessEnv = process.env): Settings {
  // No configuration and no child can name it.
  const { MCP_SECRETS_KEY: _, ...others } = env;
  const configFile = resolve(env.MCP_CONFIG || 'mcp_servers.json');
  return {
    host: env.HOST || '127.0.0.1',
    port: port(env.PORT),
    home: homeFolder(env),
    configFile,
    lockFile: join(dirname(configFile), 'mcp.lock'),
    workspaceFolder: resolve(env.WORKSPACE_DIR || 'workspace'),
    workspace: workspace(env),
    bridgeFile: fileURLToPath(new URL('../../mcpbridge/dist/mcpbridge.cjs', import.meta.url)),
    pageFolder: fileURLToPath(new URL('../../dashboard/dist', import.meta.url)),
    logLevel: env.LOG_LEVEL || 'info',
    publicUrl: publicUrl(env.PUBLIC_URL),
    allowedHosts: [...names(env.ALLOWED_HOSTS), ...hostOf(publicUrl(env.PUBLIC_URL))],
    callbackHosts: names(env.CALLBACK_HOSTS),
    callbackPorts: env.CALLBACK_PORTS === undefined ? undefined : names(env.CALLBACK_PORTS).map(ports),
    callTimeoutMs: duration('TOOL_EXECUTION_TIMEOUT', env.TOOL_EXECUTION_TIMEOUT, 90 * 60_000),
    idleTimeoutMs: duration('UPSTREAM_IDLE_TIMEOUT', env.UPSTREAM_IDLE_TIMEOUT, 5 * 60_000),
    oauth: oauth(env),
    loginTimeoutMs: duration('LOGIN_TIMEOUT', env.LOGIN_TIMEOUT, 10_000),
    approvalTimeoutMs: duration('APPROVAL_TIMEOUT', env.APPROVAL_TIMEOUT, 10 * 60_000),
    maxProcesses: count('MAX_UPSTREAM_PROCESSES', env.MAX_UPSTREAM_PROCESSES, 256),
    browserPath: env.BROWSER_PATH || '',
    browserHosts: names(env.BROWSER_ALLOWED_HOSTS),
    vision: vision(env),
    dialect: dialect(env.MCP_DIALECT),
    maxBodyBytes: 24 * MIB,
    maxMessageBytes: 64 * MIB,
    retention: {
      ageMs: duration('CALL_LOG_AGE', env.CALL_LOG_AGE, 30 * DAY_MS),
      bytes: size('CALL_LOG_SIZE', env.CALL_LOG_SIZE, 5 * 1024 * MIB),
    },
    traces: traces(env),
    secretsKey: env.MCP_SECRETS_KEY ? readSealingKey('MCP_SECRETS_KEY', env.MCP_SECRETS_KEY) : undefined,
    env: others,
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

function oauth(env: NodeJS.ProcessEnv): OAuthSettings | undefined {
  const issuers = words(env.OAUTH_ISSUER);
  if (issuers.length === 0) return undefined;
  for (const issuer of issuers)
    if (!URL.canParse(issuer) || !isSafe(new URL(issuer)))
      throw new AppError(
        'CONFIG_INVALID',
        `OAUTH_ISSUER has "${issuer}"; set it to the https address of a login service, as it writes it itself.`,
      );
  const { OAUTH_CLIENT_ID: id, OAUTH_CLIENT_SECRET: secret, OAUTH_LOGIN_SCOPE: scope } = env;
  return {
    issuers,
    audience: words(env.OAUTH_AUDIENCE),
    scopes: env.OAUTH_SCOPES ? readScopeRights(env.OAUTH_SCOPES) : USUAL_SCOPES,
    claim: env.OAUTH_CLAIM || undefined,
    admins: words(env.OAUTH_ADMINS),
    client: id ? { id, secret: secret || undefined, scope: scope || 'openid email' } : undefined,
  };
}

function isSafe({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
}

/** As they are written: issuers and subjects are compared letter by letter. */
function words(text = ''): string[] {
  return text
    .split(',')
    .map((word) => word.trim())
    .filter(Boolean);
}

function publicUrl(text = ''): string {
  if (text === '') return '';
  if (URL.canParse(text)) {
    const { protocol, origin, pathname, search, hash } = new URL(text);
    if (/^https?:$/.test(protocol) && pathname === '/' && search === '' && hash === '') return origin;
  }
  throw new AppError(
    'CONFIG_INVALID',
    `PUBLIC_URL is "${text}"; set it to an address such as https://tools.example.com.`,
  );
}

function hostOf(url: string): string[] {
  return url === '' ? [] : [new URL(url).hostname.toLowerCase()];
}

function workspace({ WORKSPACE_URL: url, ...env }: NodeJS.ProcessEnv): Settings['workspace'] {
  if (!url) return undefined;
  if (!URL.canParse(url) || !/^https?:/.test(url))
    throw new AppError('CONFIG_INVALID', `WORKSPACE_URL is "${url}"; set it to an http or https address.`);
  const token = env.WORKSPACE_TOKEN_FILE ? secretFile(env.WORKSPACE_TOKEN_FILE) : env.WORKSPACE_TOKEN;
  if (!token)
    throw new AppError(
      'CONFIG_INVALID',
      'WORKSPACE_URL is set: set WORKSPACE_TOKEN to the token of that service, or WORKSPACE_TOKEN_FILE to its file.',
    );
  return { url, token };
}

function vision(env: NodeJS.ProcessEnv): VisionSettings | undefined {
  const { VISION_URL: url, VISION_MODEL: model, VISION_API: api = 'openai', VISION_KEY: key = '' } = env;
  if (!url) return undefined;
  if (!URL.canParse(url) || !/^https?:/.test(url))
    throw new AppError(
      'CONFIG_INVALID',
      `VISION_URL is "${url}"; set it to an address such as http://localhost:11434/v1.`,
    );
  if (!model)
    throw new AppError('CONFIG_INVALID', 'VISION_URL is set: set VISION_MODEL to the model to ask there.');
  if (api === 'openai' || api === 'anthropic') return { api, url, model, key };
  throw new AppError('CONFIG_INVALID', `VISION_API is "${api}"; set it to openai or anthropic.`);
}

function dialect(text: string | undefined): DialectName | undefined {
  const name = text ? readDialectName(text) : undefined;
  if (text && name === undefined) throw new AppError('CONFIG_INVALID', unknownDialect('MCP_DIALECT', text));
  return name;
}

/** Off unless one of OpenTelemetry's own variables asks for traces. */
function traces(env: NodeJS.ProcessEnv): TraceProtocol | undefined {
  const exporter = env.OTEL_TRACES_EXPORTER;
  const asked = env.OTEL_EXPORTER_OTLP_ENDPOINT || env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT || exporter;
  if (!asked || exporter === 'none' || env.OTEL_SDK_DISABLED?.toLowerCase() === 'true') return undefined;
  if (exporter && exporter !== 'otlp')
    throw new AppError('CONFIG_INVALID', `OTEL_TRACES_EXPORTER is "${exporter}"; set it to otlp or none.`);
  const name = env.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL
    ? 'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL'
    : 'OTEL_EXPORTER_OTLP_PROTOCOL';
  const protocol = env[name] || 'http/protobuf';
  if (protocol === 'http/protobuf' || protocol === 'http/json') return protocol;
  throw new AppError('CONFIG_INVALID', `${name} is "${protocol}"; set it to http/protobuf or http/json.`);
}

function names(text = ''): string[] {
  return text
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter(Boolean);
}

function ports(text: string): [number, number] {
  const [, from, to = from] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(text) ?? [];
  if (from !== undefined && Number(from) <= Number(to) && Number(to) <= 65_535)
    return [Number(from), Number(to)];
  throw new AppError(
    'CONFIG_INVALID',
    `CALLBACK_PORTS has "${text}"; set it to ports and ranges such as 9000,9100-9199.`,
  );
}

function count(name: string, text: string | undefined, fallback: number): number {
  const value = text ? Number(text) : fallback;
  if (Number.isInteger(value) && value > 0) return value;
  throw new AppError('CONFIG_INVALID', `${name} is "${text}"; set it to a whole number from 1 up.`);
}

const SIZES: Record<string, number> = { kb: 1024, mb: MIB, gb: 1024 * MIB };

function size(name: string, text: string | undefined, fallback: number): number {
  if (!text) return fallback;
  const [, digits, unit = 'mb'] = /^(\d+(?:\.\d+)?)\s*([kmg]b)?$/i.exec(text) ?? [];
  if (digits !== undefined) return Math.round(Number(digits) * (SIZES[unit.toLowerCase()] ?? MIB));
  throw new AppError(
    'CONFIG_INVALID',
    `${name} is "${text}"; set it to a size such as 500mb or 5gb (0: no limit).`,
  );
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
