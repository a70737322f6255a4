import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { watched } from './processes.mjs';

const OLD = '0.1.16';
const NEW = '0.2.0-alpha.12';

/** What a server is put through: by the era of the suite's client, the package's version, and the words that choose. */
export const SERVER_SUITES = [
  { name: '0.1.16', era: 'legacy', version: OLD, all: '--suite all', each: '' },
  {
    name: '2025-11-25',
    era: 'legacy',
    version: NEW,
    all: '--requirements 2025-11-25',
    each: '--spec-version 2025-11-25',
  },
  {
    name: '2026-07-28',
    era: 'modern',
    version: NEW,
    all: '--requirements 2026-07-28',
    each: '--spec-version 2026-07-28 --force',
  },
];

const LEGACY_CLIENT = ['initialize', 'tools_call', 'elicitation-sep1034-client-defaults', 'sse-retry'];

/** What a client is put through. */
export const CLIENT_SUITES = [
  { name: '0.1.16', era: 'legacy', version: OLD, each: '', scenarios: LEGACY_CLIENT },
  {
    name: '2025-11-25',
    era: 'legacy',
    version: NEW,
    each: '--spec-version 2025-11-25',
    scenarios: [...LEGACY_CLIENT, 'json-schema-2020-12-preservation'],
  },
  {
    name: '2026-07-28',
    era: 'modern',
    version: NEW,
    each: '--spec-version 2026-07-28',
    scenarios: [
      'tools_call',
      'request-metadata',
      'sep-2322-client-request-state',
      'http-standard-headers',
      'http-custom-headers',
      'http-invalid-tool-headers',
      'json-schema-ref-no-deref',
      'json-schema-2020-12-preservation',
    ],
  },
  {
    // Signing in. The era of the client before us plays no part in it.
    name: 'auth',
    era: 'modern',
    isOfOneEra: true,
    version: NEW,
    each: '--spec-version 2026-07-28',
    scenarios: [
      'metadata-default',
      'metadata-var1',
      'metadata-var2',
      'metadata-var3',
      'basic-cimd',
      'scope-from-www-authenticate',
      'scope-from-scopes-supported',
      'scope-omitted-when-undefined',
      'scope-step-up',
      'scope-retry-limit',
      'token-endpoint-auth-basic',
      'token-endpoint-auth-post',
      'token-endpoint-auth-none',
      'pre-registration',
      'resource-mismatch',
      'offline-access-scope',
      'offline-access-not-supported',
      'authorization-server-migration',
      'iss-supported',
      'iss-not-advertised',
      'iss-supported-missing',
      'iss-wrong-issuer',
      'iss-unexpected',
      'iss-normalized',
      'metadata-issuer-mismatch',
    ].map((name) => `auth/${name}`),
  },
  {
    // Of an extension, which is no part of a revision.
    name: 'auth-machine',
    era: 'modern',
    isOfOneEra: true,
    version: NEW,
    each: '',
    scenarios: ['auth/client-credentials-jwt', 'auth/client-credentials-basic'],
  },
];

/**
 * Runs commands of one version of the suite and answers what they wrote. The suite needs a newer Node than the project,
 * so both come through npx; its exit code counts only required scenarios, which is not what is compared here.
 */
export async function runSuite(version, commands, env = {}) {
  const packages = ['node@22', `@modelcontextprotocol/conformance@${version}`];
  const args = ['-y', ...packages.flatMap((name) => ['-p', name]), '-c', commands.join('; ')];
  // Strict engines, which the project may ask for, would have npm compare the suite with the Node that runs npx.
  const options = {
    env: { ...process.env, npm_config_engine_strict: 'false', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  };
  const child = watched(spawn('npx', args, options));
  let written = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (written += chunk));
  await once(child, 'close');
  return written;
}
