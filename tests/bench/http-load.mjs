// wrk with 16 connections, the same for every endpoint: a checked warm-up, then the measured run.
import { execFile, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startProgram, workFolder } from './processes.mjs';

const script = join(dirname(fileURLToPath(import.meta.url)), 'wrk.lua');
const CONNECTIONS = 16;
let nextNumber = 1_000_000;

/** Resolves to undefined when wrk is there, else to what the person has to do. */
export async function missingWrk() {
  if (hasWrk()) return undefined;
  const canInstall = process.getuid?.() === 0 && existsSync('/etc/debian_version');
  if (!canInstall) return 'wrk is missing: install it (Debian, Ubuntu: apt-get install wrk).';
  console.error('Installing wrk with apt-get …');
  const run = promisify(execFile);
  const failed = await run('apt-get', ['update'])
    .then(() => run('apt-get', ['install', '-y', '--no-install-recommends', 'wrk']))
    .then(
      () => undefined,
      (error) => error,
    );
  return hasWrk()
    ? undefined
    : `wrk is missing and apt-get could not install it: ${failed?.stderr || failed}`;
}

/**
 * What is posted again and again. `bodyOf(number)` writes a body around a number of seven digits; an answer is right
 * when it is a 200 that holds `expects`.
 */
export function createJob({ name, url, headers, bodyOf, expects }) {
  const { host, pathname } = new URL(url);
  const body = bodyOf('\0');
  const length = Buffer.byteLength(bodyOf('1000000'));
  const all = { Host: host, 'Content-Type': 'application/json', 'Content-Length': length, ...headers };
  const lines = Object.entries(all).map(([key, value]) => `${key}: ${value}\r\n`);
  const head = `POST ${pathname} HTTP/1.1\r\n${lines.join('')}\r\n`;
  const file = join(workFolder, `${name.replaceAll(/[^a-z]+/g, '-')}.job.lua`);
  const parts = body.split('\0').map(luaString).join(', ');
  writeFileSync(
    file,
    `return { head = ${luaString(head)}, parts = { ${parts} }, expects = ${luaString(expects)} }\n`,
  );
  return { name, file, url };
}

/** Every answer is looked into; throws on the first wrong one. */
export const warmUp = (job, seconds) => load(job, seconds, ['check']);

/** Calls per second, p50 and p99 in milliseconds. */
export const measure = (job, seconds) => load(job, seconds, []);

async function load(job, seconds, more) {
  const options = [
    '-t',
    '1',
    '-c',
    CONNECTIONS,
    '-d',
    `${seconds}s`,
    '--timeout',
    '10s',
    '-s',
    script,
    job.url,
  ];
  const wrk = startProgram('wrk', 'wrk', [...options, '--', job.file, nextNumber, ...more].map(String), {}, [
    'ignore',
    'pipe',
  ]);
  let output = '';
  wrk.stdout.on('data', (chunk) => (output += chunk));
  await once(wrk, 'close');
  const match = /^RESULT (\d+) (\d+) (\d+) (\d+) (\d+) (.*)$/m.exec(output);
  if (!match) throw new Error(`wrk against ${job.name} said:\n${output}`);
  const [requests, duration, bad, p50, p99] = match.slice(1, 6).map(Number);
  if (bad > 0) throw new Error(`${bad} of ${requests} answers of ${job.name} were wrong: ${match[6]}`);
  nextNumber += requests + CONNECTIONS;
  return { perSecond: (requests / duration) * 1e6, p50: p50 / 1000, p99: p99 / 1000 };
}

function hasWrk() {
  try {
    execFileSync('wrk', ['-v'], { stdio: 'ignore' });
  } catch (error) {
    return error.code !== 'ENOENT'; // wrk -v leaves with 1
  }
  return true;
}

/** JSON's escapes are Lua's, as long as the text is ASCII. */
const luaString = (text) => JSON.stringify(text);
