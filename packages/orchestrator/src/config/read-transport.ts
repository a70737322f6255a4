import { resolve } from 'node:path';
import { isObject } from '@mcpbridge/shared/json-rpc.js';
import { readDocker } from './docker-entry.js';
import { readEnvFile } from './env-file.js';
import { readOAuth } from './read-oauth.js';
import type { Reading } from './reading.js';
import type { HttpTransportEntry, ServerEntry, StdioTransportEntry } from './server-entry.js';
import { texts } from './texts.js';

type Kind = 'stdio' | 'http' | 'sse';

const KINDS: Record<string, Kind> = { stdio: 'stdio', http: 'http', streamablehttp: 'http', sse: 'sse' };
const KIND_FIELDS = ['type', 'protocol', 'transport'] as const;

/** How a server is reached; undefined when `faults` says why that cannot be told. */
export function readTransport(reading: Reading): ServerEntry['transport'] | undefined {
  const { raw, faults } = reading;
  const { command, docker } = raw;
  const url = raw.url ?? raw.httpUrl ?? raw.serverUrl;
  const ways = Object.entries({ command, url, docker }).filter(([, value]) => value !== undefined);
  if (ways.length === 0) {
    faults.push('It needs a "command" to start, a "url" to call or a "docker" image to run.');
    return undefined;
  }
  if (ways.length > 1) {
    faults.push(`It has a ${ways.map(([name]) => `"${name}"`).join(' and a ')}; keep one of them.`);
    return undefined;
  }
  const said = saidKind(reading);
  const [way = ''] = ways[0] ?? [];
  if (way !== 'url' && said && said !== 'stdio')
    faults.push(`It is of type "${said}", which needs a "url" and not a "${way}".`);
  if (way !== 'url' && raw.allowPrivate !== undefined)
    faults.push(`"allowPrivate" is about a "url", and this server has none; take it out.`);
  if (isObject(docker)) return readDocker(reading, docker);
  if (typeof command === 'string') return stdio(reading, command);
  if (typeof url !== 'string') return undefined;
  if (said === 'stdio') faults.push('It is of type "stdio", which needs a "command" and not a "url".');
  return http(reading, url, said === 'http' || said === 'sse' ? said : guess(url));
}

function saidKind({ raw, faults }: Reading): Kind | undefined {
  const said = new Set<Kind>();
  for (const field of KIND_FIELDS) {
    const word = raw[field];
    if (typeof word !== 'string') continue;
    const kind = KINDS[word.toLowerCase().replace(/[-_]/g, '')];
    if (kind) said.add(kind);
    else faults.push(`"${field}" is "${word}"; use "stdio", "http" or "sse".`);
  }
  if (said.size > 1)
    faults.push('"type", "protocol" and "transport" contradict each other; keep one of them.');
  return [...said][0];
}

function guess(url: string): Kind {
  return url.includes('/sse') ? 'sse' : 'http';
}

function stdio(reading: Reading, given: string): StdioTransportEntry {
  const { raw, context, faults, fill } = reading;
  const command = fill('command', given);
  if (command.trim() === '') faults.push('"command" is empty.');
  const cwd = raw.cwd ?? raw.working_dir;
  return {
    kind: 'stdio',
    command,
    args: Array.isArray(raw.args) ? raw.args.map((arg, index) => fill(`args.${index}`, arg)) : [],
    env: { ...readEnvFile(reading), ...texts('env', raw.env, fill) },
    cwd: cwd === undefined ? context.folder : resolve(context.folder, fill('cwd', cwd)),
  };
}

function http(reading: Reading, given: string, kind: Kind): HttpTransportEntry {
  const { raw, faults, fill } = reading;
  const before = faults.length;
  const url = fill('url', given);
  // With a placeholder left in it, it was named already.
  if (faults.length === before && !isHttp(url)) faults.push('"url" must be an http or https address.');
  const oauth = readOAuth(reading);
  return {
    kind: kind === 'sse' ? 'sse' : 'http',
    url,
    headers: texts('headers', raw.headers, fill),
    ...(oauth ? { oauth } : {}),
    ...(raw.allowPrivate === true ? { allowPrivate: true } : {}),
  };
}

function isHttp(url: string): boolean {
  return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
}
