import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';
import { type ParseError, parse as parseJson } from 'jsonc-parser';
import { parse as parseToml } from 'smol-toml';
import type { ServerMap } from './config-file.js';

/** `[mcp_servers.NAME]` of Codex's TOML, in our words. */
export function codexServers(text: string): ServerMap {
  return entriesOf(tomlIn(text)?.mcp_servers, codexEntry);
}

/** `mcp` of opencode's JSON with comments, with the servers in it or, later, in its `servers`; in our words. */
export function opencodeServers(text: string): ServerMap {
  const { mcp } = jsonIn(text) ?? {};
  return entriesOf(isObject(mcp) && isObject(mcp.servers) ? mcp.servers : mcp, opencodeEntry);
}

function codexEntry(given: JsonObject): JsonObject {
  const { command, args, env, cwd, url, enabled } = given;
  const bearer = isText(given.bearer_token_env_var)
    ? { Authorization: `Bearer \${${given.bearer_token_env_var}}` }
    : {};
  return present({
    command,
    args,
    env: filled({ ...handedOn(given.env_vars), ...(isObject(env) ? env : {}) }),
    cwd,
    url,
    headers: filled({
      ...(isObject(given.http_headers) ? given.http_headers : {}),
      ...mapped(given.env_http_headers, (name) => `\${${name}}`),
      ...bearer,
    }),
    oauth: oauthOf(given.oauth),
    startTimeout: seconds(given.startup_timeout_sec),
    timeout: seconds(given.tool_timeout_sec),
    enabled,
  });
}

/** Variables of the environment that are handed on by name, where they are set. */
function handedOn(names: unknown): JsonObject {
  if (!Array.isArray(names)) return {};
  return Object.fromEntries(
    names
      .map((one) => (isObject(one) ? one.name : one))
      .filter(isText)
      .map((name) => [name, `\${${name}:-}`]),
  );
}

function opencodeEntry(given: JsonObject): JsonObject {
  const { command, environment, cwd, url, headers, enabled, disabled, timeout } = given;
  const [program, ...args] = Array.isArray(command) ? command : [command];
  return present({
    command: isText(program) ? ourPlaceholders(program) : program,
    args: args.length > 0 ? args.map((arg) => (isText(arg) ? ourPlaceholders(arg) : arg)) : undefined,
    env: filled(mapped(environment, ourPlaceholders)),
    cwd,
    url: isText(url) ? ourPlaceholders(url) : url,
    headers: filled(mapped(headers, ourPlaceholders)),
    oauth: oauthOf(given.oauth),
    timeout: typeof timeout === 'number' ? timeout : undefined,
    enabled,
    disabled,
  });
}

/** `{env:NAME}` as `${NAME}`. */
const ourPlaceholders = (text: string) =>
  text.replaceAll(/\{env:(\w+)\}/g, (_, name: string) => `\${${name}}`);

/** A registration by hand; that there is a login is found out by asking the server. */
function oauthOf(given: unknown): JsonObject | undefined {
  if (!isObject(given)) return undefined;
  return filled(
    present({
      clientId: given.clientId ?? given.client_id,
      clientSecret: given.clientSecret ?? given.client_secret,
      scope: given.scope,
    }),
  );
}

const seconds = (given: unknown) => (typeof given === 'number' ? `${given}s` : undefined);
const isText = (value: unknown): value is string => typeof value === 'string';

const mapped = (given: unknown, change: (text: string) => string): JsonObject =>
  isObject(given)
    ? Object.fromEntries(
        Object.entries(given).map(([name, value]) => [name, isText(value) ? change(value) : value]),
      )
    : {};

const filled = (object: JsonObject) => (Object.keys(object).length > 0 ? object : undefined);

const present = (object: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));

function entriesOf(servers: unknown, read: (given: JsonObject) => JsonObject): ServerMap {
  if (!isObject(servers)) return new Map();
  return new Map(
    Object.entries(servers).flatMap(([name, given]) =>
      isObject(given) ? [[name, read(given)] as const] : [],
    ),
  );
}

/** Undefined of what cannot be read: a person writes at it, or it is of another version. */
function tomlIn(text: string): JsonObject | undefined {
  try {
    return plain(parseToml(text));
  } catch {
    return undefined;
  }
}

function jsonIn(text: string): JsonObject | undefined {
  const errors: ParseError[] = [];
  const value: unknown = parseJson(text.replace(/^\uFEFF/, ''), errors, { allowTrailingComma: true });
  return errors.length === 0 && isObject(value) ? plain(value) : undefined;
}

/** As JSON has it: without dates, and with the prototype that other objects have. */
const plain = (value: object): JsonObject => JSON.parse(JSON.stringify(value));
