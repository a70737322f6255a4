// A workspace of 100,000 files: how long a glob, a search, a page of the tree and a question by meaning take, and what
// the service's memory does meanwhile. `npm run bench:files`; prints a table, fails on nothing.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { encodeGuard, GUARD_HEADER } from '../../packages/shared/dist/folder-guard.js';
import { findRipgrep } from '../../workspace-api/lib/search/ripgrep.js';

const FILES = Number(process.argv[2] ?? 100_000);
const ROUNDS = 7;
const TOKEN = 'token-of-the-bench';
const root = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'many-files-'));

for (let number = 0; number < FILES; number += 1) {
  const within = join(folder, `d${Math.floor(number / 1000)}`, `e${Math.floor(number / 100) % 10}`);
  if (number % 100 === 0) mkdirSync(within, { recursive: true });
  const rare = number % 5000 === 7 ? ' with a rare needle' : '';
  const text = `file ${number}${rare}\nexport const value${number} = ${number};\n${'lorem ipsum dolor '.repeat(20)}\n`;
  writeFileSync(join(within, `file${number}.${number % 3 ? 'txt' : 'ts'}`), text);
}

const service = spawn(process.execPath, [join(root, 'workspace-api/dist/main.js')], {
  env: {
    PATH: process.env.PATH,
    PORT: '0',
    WORKSPACE_DIR: folder,
    WORKSPACE_TOKEN: TOKEN,
  },
  stdio: ['ignore', 'pipe', 'inherit'],
});
const [line] = await once(createInterface({ input: service.stdout }), 'line');
const address = /http:\/\/[\d.]+:\d+/.exec(line)[0];
const guard = {
  sessionId: 'bench',
  home: '',
  read: [],
  write: [''],
  blocked: ['d7'],
  env: {},
  network: 'none',
};
const headers = { authorization: `Bearer ${TOKEN}`, [GUARD_HEADER]: encodeGuard(guard) };

const memory = () =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${service.pid}/status`, 'utf8'))[1]) / 1024;

async function ask(path) {
  const response = await fetch(address + path, { headers });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response.json();
}

async function row(name, path, told, rounds = ROUNDS) {
  const before = memory();
  const times = [];
  let answer;
  for (let round = 0; round < rounds; round += 1) {
    const begun = performance.now();
    answer = await ask(path);
    times.push(performance.now() - begun);
  }
  times.sort((a, b) => a - b);
  const [best, median] = [times[0], times[Math.floor(times.length / 2)]].map((ms) => `${Math.round(ms)} ms`);
  const grown = `${Math.round(before)} → ${Math.round(memory())} MB`;
  console.log(`| ${name} | ${best} | ${median} | ${grown} | ${told(answer)} |`);
}

/** An answer takes at most ten seconds, so the first ones are about what is in the index until then. */
async function index() {
  const [before, begun] = [memory(), performance.now()];
  let questions = 0;
  for (let complete = false; !complete; questions += 1)
    ({ index_complete: complete } = await ask('/api/search/semantic?query=needle'));
  const grown = `${Math.round(before)} → ${Math.round(memory())} MB`;
  const took = `${Math.round((performance.now() - begun) / 1000)} s`;
  console.log(
    `| passages, until all files are in the index | ${took} | | ${grown} | ${questions} questions |`,
  );
}

/** What the machine can do at the moment. */
function ripgrepAlone() {
  const times = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const begun = performance.now();
    spawnSync(findRipgrep(process.env.PATH), ['-l', '--hidden', '--no-ignore', 'rare needle', '.'], {
      cwd: folder,
      stdio: 'ignore',
    });
    times.push(Math.round(performance.now() - begun));
  }
  times.sort((a, b) => a - b);
  console.log(
    `| ripgrep by itself, what is rare | ${times[0]} ms | ${times[Math.floor(ROUNDS / 2)]} ms | | |`,
  );
}

console.log(`${FILES} files\n\n| What | best | median | memory | answer |\n|---|---|---|---|---|`);
const found = ({ results, engine }) => `${results.length} lines, ${engine}`;
try {
  await row(
    'tree, first page',
    '/api/documents?limit=1000',
    ({ documents }) => `${documents.length} entries`,
  );
  await row(
    'tree, a page in the middle',
    '/api/documents?limit=1000&after=d50/e5',
    ({ documents }) => `${documents.length} entries`,
  );
  await row('glob **/*.ts', '/api/glob?pattern=**/*.ts', ({ total }) => `${total} files`);
  await row('search, what is rare', '/api/search?query=rare+needle', found);
  await row('search, an expression', '/api/search?regex=true&query=rare%20ne%2Bdle$', found);
  await row('search, what is nowhere', '/api/search?query=not+there', found);
  await row('search, what is everywhere', '/api/search?query=lorem', found);
  await index();
  const passages = ({ semantic_results, search_method }) =>
    `${semantic_results.length} passages, ${search_method}`;
  await row('passages by meaning', '/api/search/semantic?query=a+rare+pin', passages);
  writeFileSync(join(folder, 'd1/e1/changed.md'), 'A walrus on the beach.');
  await row('the same, a file changed', '/api/search/semantic?query=sea+animal', passages, 1);
  ripgrepAlone();
} finally {
  service.kill('SIGTERM');
  await once(service, 'exit');
  rmSync(folder, { recursive: true, force: true });
}
