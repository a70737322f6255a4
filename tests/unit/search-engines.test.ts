import { linkSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { AppError } from '../../packages/shared/dist/errors.js';
import { WorkspaceRoot } from '../../workspace-api/lib/root/workspace-root.js';
import { findRipgrep } from '../../workspace-api/lib/search/ripgrep.js';
import { Search, type SearchRequest } from '../../workspace-api/lib/search/search.js';
import { verifies } from '../requirements.js';
import { guard, makeFolder, removeFolder } from '../support/workspace-folder.js';

const never = new AbortController().signal;
const request: SearchRequest = {
  query: '',
  folder: '',
  regex: true,
  ignoreCase: false,
  context: 0,
  limit: 1000,
};

const BROKEN = ['(', '[', '*', '\\'];

let folder: string;
let outside: string;
let root: WorkspaceRoot;
let withRipgrep: Search;
let withReader: Search;

beforeAll(async () => {
  folder = makeFolder(FILES);
  outside = makeFolder({ 'secret.txt': 'foo outside\n' });
  symlinkSync(outside, join(folder, 'way-out'));
  symlinkSync(join(outside, 'secret.txt'), join(folder, 'file-out.txt'));
  linkSync(join(outside, 'secret.txt'), join(folder, 'hard-link.txt'));
  mkdirSync(join(folder, 'empty'));
  root = await WorkspaceRoot.open(folder);
  const ripgrep = findRipgrep();
  expect(ripgrep).toBeDefined();
  // Nothing is looked at before ripgrep was asked.
  withRipgrep = new Search({ root, ripgrep, firstLookMs: 0 });
  withReader = new Search({ root, ripgrep: undefined });
});

afterAll(async () => {
  await Promise.all([withRipgrep.close(), withReader.close()]);
  await root.close();
  removeFolder(folder);
  removeFolder(outside);
});

async function both(changed: Partial<SearchRequest>, who = guard()) {
  const asked = { ...request, ...changed };
  const adopted = root.adopt(who);
  const [one, other] = [
    await withRipgrep.find(adopted, asked, never),
    await withReader.find(adopted, asked, never),
  ];
  expect({ asked, matches: one.matches, truncated: one.truncated }).toEqual({
    asked,
    matches: other.matches,
    truncated: other.truncated,
  });
  return one;
}

verifies('search.two-engines', async () => {
  const engines: string[] = [];
  let answered = 0;
  for (const ignoreCase of [false, true]) {
    for (const query of [...EXPRESSIONS, ...BROKEN]) {
      answered += (await both({ query, ignoreCase, regex: false })).matches.length;
    }
    for (const query of EXPRESSIONS) {
      const { matches, engine } = await both({ query, ignoreCase });
      answered += matches.length;
      engines.push(engine);
    }
  }
  expect(answered).toBeGreaterThan(500);
  expect(engines.filter((engine) => engine === 'ripgrep').length).toBeGreaterThan(engines.length / 2);
});

test('eighty expressions made at random give one answer from both engines', async () => {
  const random = seeded(20_261_130);
  let answered = 0;
  for (let count = 0; count < 80; count += 1) {
    const { matches } = await both({ query: expression(random, 3), ignoreCase: random() < 0.5 });
    answered += matches.length;
  }
  expect(answered).toBeGreaterThan(200);
});

describe('both engines', () => {
  test.each([
    ['*.txt'],
    ['src/**'],
    ['src/*.ts'],
    ['!*.txt'],
    ['*.{txt,ts},!crlf*'],
    ['**/deep/**'],
    ['.hidden'],
    ['src/deep/?oo.ts'],
    ['[bc]*'],
  ])('look into the files of the glob %s', async (globs) => {
    await both({ query: 'o', globs });
  });

  test.each([1, 2, 7, 20])('give the first %d lines and say that there are more', async (limit) => {
    const { matches, truncated } = await both({ query: 'o', limit, context: 2 });
    expect(matches).toHaveLength(limit);
    expect(truncated).toBe(true);
  });

  test('show lines before and after, also where matches are close', async () => {
    const { matches } = await both({ query: 'foo', context: 2, globs: 'close.txt' });
    expect(matches.map(({ line, before, after }) => ({ line, before, after }))).toEqual([
      { line: 2, before: ['one'], after: ['foo three', 'four'] },
      { line: 3, before: ['one', 'foo two'], after: ['four', 'five'] },
      { line: 7, before: ['five', 'six'], after: [] },
    ]);
  });

  test('find nothing by links, by other names of a file, in git’s folder, or in what is no text', async () => {
    const { matches } = await both({ query: 'foo|secret' });
    const paths = new Set(matches.map(({ path }) => path));
    expect(paths).toContain('src/deep/foo.ts');
    for (const path of paths) expect(path).not.toMatch(/out|hard-link|\.git|binary/);
  });

  test('find nothing in what is blocked or another session’s', async () => {
    const who = guard({ write: ['src'], read: ['notes [1]'], blocked: ['src/deep', 'notes [1]/{x}'] });
    const { matches } = await both({ query: 'foo' }, who);
    expect(new Set(matches.map(({ path }) => path))).toEqual(new Set(['src/a.ts', 'notes [1]/foo.md']));
  });

  test('cut a long line around the match and no character in two', async () => {
    const { matches } = await both({ query: 'needle', globs: 'long.txt' });
    const [match] = matches;
    expect(match?.text).toContain('needle');
    expect(match?.text.length).toBeLessThan(410);
    expect(match?.column).toBe(6001);
    expect(match?.text).not.toMatch(/\p{Surrogate}/u);
  });
});

test('an expression without end is ended after its time, and the next search works', async () => {
  const options = { root, ripgrep: undefined, timeoutMs: 300 };
  const hasty = new Search(options);
  const failure = await hasty
    .find(root.adopt(guard()), { ...request, query: '(a+)+$', globs: 'backtrack.txt' }, never)
    .catch((error: AppError) => error);
  expect(failure).toMatchObject({ code: 'CALL_TIMEOUT' });
  options.timeoutMs = 30_000;
  const { matches } = await hasty.find(root.adopt(guard()), { ...request, query: 'foo two' }, never);
  expect(matches).toHaveLength(1);
  await hasty.close();
});

test.each(BROKEN)('the expression %s is refused with what is wrong with it', async (query) => {
  const search = withReader.find(root.adopt(guard()), { ...request, query }, never);
  await expect(search).rejects.toMatchObject({
    code: 'INVALID_REQUEST',
    message: expect.stringContaining('regex=false'),
  });
});

test('a caller that goes away ends its search', async () => {
  const gone = new AbortController();
  const search = withReader.find(root.adopt(guard()), { ...request, query: '(a+)+$' }, gone.signal);
  gone.abort();
  await expect(search).rejects.toMatchObject({ code: 'CALL_CANCELLED' });
  expect((await both({ query: 'foo two' })).matches).toHaveLength(1);
});

const EXPRESSIONS = [
  ...[
    'foo',
    'FOO',
    'f.o',
    'foo|bar',
    '^foo',
    'foo$',
    '^$',
    '^',
    '\\bfoo\\b',
    '\\Bo',
    'o{2}',
    'o{1,}',
    'fo*?',
    '.',
  ],
  ...[
    '[a-c]+',
    '[^a-z\\s]',
    '\\d+',
    '\\D',
    '\\w+',
    '\\W',
    '\\s',
    '\\S+',
    '(foo)\\1',
    '(?=foo)f',
    '(?<!x)foo',
    'x?$',
  ],
  ...[
    'é',
    'É',
    'straße',
    'ς',
    'Σ',
    'K',
    'ı',
    '日本',
    '😀',
    '[😀-😂]',
    '^.$',
    '^..$',
    'caf.',
    'caf\\S',
    '\\p{Lu}',
    '\\u00e9',
  ],
  ...['\\u{1f600}', '\\x41', '\\t', '\\r', 'a\\-b', '\\.', 'a.b', 'a{', '$x', '{}', '//', '#'],
  ...[
    'caf\ufffd',
    '[\\w.]+@[\\w.]+',
    '(?:a|b|)c',
    '[\\s\\S]o',
    '\\cA',
    '[^]o',
    '[]',
    'end$',
    '\\$',
    'needle$',
    'wide',
  ],
];

const FILES: Record<string, string | Buffer> = {
  'close.txt': 'one\nfoo two\nfoo three\nfour\nfive\nsix\nfoo seven',
  'src/a.ts': 'const foo = 1;\nexport { foo };\n\nfunction bar() {}\n',
  'src/deep/foo.ts': 'foo foofoo FOO barfoo\n\tfoo\n',
  'notes [1]/foo.md': '# foo\n',
  'notes [1]/{x}/foo.md': '# foo in braces\n',
  'crlf.txt': 'foo\r\nbar foo\r\n\r\nx\r\n',
  'lone-cr.txt': 'foo\rbar\rend\nfoo\r\r\n',
  '.hidden/.dot': 'foo is hidden\n',
  'unicode.txt': 'Éé café\nStraße STRASSE\nσς Σ\nKK ı I i\n日本語\n😀\n😀😁😂\n\u2028foo\u2028\n',
  'latin1.txt': Buffer.from('caf\xe9 foo\n\xff\xfe\xe2\x82b\n', 'latin1'),
  'bom.txt': '\ufefffoo after a BOM\n',
  'wide-le.txt': Buffer.from('\ufefffoo wide\r\nbar é\n', 'utf16le'),
  'wide-be.txt': Buffer.from('\ufefffoo wide\nbar é', 'utf16le').swap16(),
  'binary.bin': Buffer.from('foo\0foo\n'),
  'late-nul.txt': Buffer.from(`foo\n${`${'x'.repeat(99)}\n`.repeat(800)}\0\nfoo late\n`),
  'mail.txt': 'someone@example.com\na.b a-b a*b\n$x {} // # ( [ \\ a{\nc ac bc\n',
  'no-end.txt': 'needle',
  'only-newlines.txt': '\n\n\n',
  'nothing.txt': '',
  'long.txt': `${'😀'.repeat(3000)}needle${'😀'.repeat(3000)}\n`,
  'backtrack.txt': `${'a'.repeat(40)}!\n`,
  '.git/config': 'foo of git\n',
  'windows.txt': `${`${'line of many '.repeat(10)}\n`.repeat(10_000)}foo at the end of a second window\n`,
  'umlaut-ä/日本.txt': 'foo\n',
  '-dash.txt': 'foo\n',
};

/** A small generator, so that every run has the same expressions. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

function expression(random: () => number, depth: number): string {
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  const atoms = [
    'f',
    'o',
    'oo',
    'a',
    'b',
    '.',
    '\\w',
    '\\s',
    '\\d',
    '[a-f]',
    '[^o]',
    '\\W',
    'é',
    '\\b',
    '^',
    '$',
    '😀',
    '\\S',
  ];
  if (depth === 0) return pick(atoms);
  const inner = () => expression(random, depth - 1);
  return pick([
    () => `${inner()}${inner()}`,
    () => `${inner()}${inner()}`,
    () => `(?:${inner()}|${inner()})`,
    () => `(${inner()})`,
    () => `(?:${inner()})${pick(['*', '+', '?', '{2}', '{1,3}', '+?'])}`,
    () => inner(),
  ])();
}
