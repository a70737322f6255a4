// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders of the configuration are meant
import { describe, expect, test } from '@jest/globals';
import { maskEntry } from '@mcpbridge/orchestrator/config/mask.js';
import { unmaskEntry } from '@mcpbridge/orchestrator/config/unmask.js';

const M = '********';
const args = (...given: unknown[]) => (maskEntry({ args: given }) as { args: unknown[] }).args;

describe('what is shown of an entry', () => {
  test('literal values of env and headers are masked, whatever their name and kind', () => {
    const entry = {
      env: { A: 'x', PORT: 80, ON: true, NONE: null, EMPTY: '' },
      headers: { 'X-Anything': 'y' },
    };
    expect(maskEntry(entry)).toEqual({
      env: { A: M, PORT: M, ON: M, NONE: null, EMPTY: '' },
      headers: { 'X-Anything': M },
    });
  });

  test('values that are made of placeholders are shown, after a word such as Bearer too', () => {
    const entry = {
      env: { A: '${A}', B: '${env:B}${C}', D: '${D:-}' },
      headers: { Authorization: 'Bearer ${TOKEN}' },
    };
    expect(maskEntry(entry)).toEqual(entry);
  });

  test('a placeholder with a literal beside it or as its default is masked', () => {
    expect(maskEntry({ env: { A: '${A}-secret', B: '${B:-secret}', C: 'Bearer secret' } })).toEqual({
      env: { A: M, B: M, C: M },
    });
  });

  test('secrets of oauth are masked; addresses, files and ids are shown', () => {
    const oauth = {
      client_id: 'id',
      token_file: '/tokens/a.json',
      token_url: 'https://a.example/token',
      scopes: ['read'],
    };
    const secret = {
      client_secret: 's',
      access_token: 't',
      password: 'p',
      privateKey: 'k',
      tokens: { a: 'b' },
    };
    expect(maskEntry({ oauth: { ...oauth, ...secret } })).toEqual({
      oauth: { ...oauth, client_secret: M, access_token: M, password: M, privateKey: M, tokens: M },
    });
  });

  test.each([
    ['https://user:pass@a.example/mcp?key=k&x=${X}#f', `https://${M}@a.example/mcp?key=${M}&x=\${X}#f`],
    ['https://${USER}:${PASS}@a.example', 'https://${USER}:${PASS}@a.example'],
    ['https://a.example/mcp', 'https://a.example/mcp'],
    ['https://a.example/mcp?a=%40&b', `https://a.example/mcp?a=${M}&b`],
  ])('the address %s is shown as %s', (url, shown) => {
    expect(maskEntry({ url })).toEqual({ url: shown });
  });

  test.each([
    [
      ['--token', 'abc', 'next'],
      ['--token', M, 'next'],
    ],
    [
      ['--api-key', 'abc'],
      ['--api-key', M],
    ],
    [
      ['--password=abc', '--key=k'],
      [`--password=${M}`, `--key=${M}`],
    ],
    [
      ['--token', '${TOKEN}'],
      ['--token', '${TOKEN}'],
    ],
    [
      ['--token', '--verbose'],
      ['--token', '--verbose'],
    ],
    [
      ['--pin-code', 7, '--token', 7],
      ['--pin-code', 7, '--token', M],
    ],
    [
      ['--token-file', '/a/b'],
      ['--token-file', '/a/b'],
    ],
    [
      ['--header', 'Authorization: Bearer abc'],
      ['--header', `Authorization: ${M}`],
    ],
    [
      ['--header', 'Authorization:${AUTH}'],
      ['--header', 'Authorization:${AUTH}'],
    ],
    [
      ['-e', 'GITHUB=abc', '-e', 'NAME'],
      ['-e', `GITHUB=${M}`, '-e', 'NAME'],
    ],
    [
      ['--env=A=abc', 'API_KEY=abc'],
      [`--env=A=${M}`, `API_KEY=${M}`],
    ],
    [['postgres://me:pw@db/x'], [`postgres://${M}@db/x`]],
    [['--db=postgres://me:pw@db/x'], [`--db=postgres://${M}@db/x`]],
    [['Server=db;User=me;Password=pw;Timeout=5'], [`Server=db;User=me;Password=${M};Timeout=5`]],
    [
      ['ghp_16C7e42F292c6912E7710c838347Ae178B4a', 'sk-ant-api03-abcdef'],
      [M, M],
    ],
    [
      ['-y', '@scope/pkg@1.2.3', '/a/b', '--port', '80'],
      ['-y', '@scope/pkg@1.2.3', '/a/b', '--port', '80'],
    ],
    [['{"apiKey":"abc","region":"eu"}'], [`{"apiKey":"${M}","region":"eu"}`]],
    [['"{\\"apiKey\\":\\"abc\\"}"'], [`"{\\"apiKey\\":\\"${M}\\"}"`]],
    [['{not json'], ['{not json']],
  ])('the arguments %j are shown as %j', (given, shown) => {
    expect(args(...given)).toEqual(shown);
  });

  test('fields that we do not know are looked through by name', () => {
    expect(
      maskEntry({ docker: { env: { A: 'x' }, image: 'i' }, registry: [{ apiKey: 'k', name: 'n' }] }),
    ).toEqual({
      docker: { env: { A: M }, image: 'i' },
      registry: [{ apiKey: M, name: 'n' }],
    });
  });
});

describe('what a mask that is given back stands for', () => {
  const stored = {
    command: 'x',
    args: ['--token', 'A', '--password', 'B'],
    env: { KEY: 'secret', PORT: 80 },
    oauth: { client_secret: 's', tokens: { a: 1 } },
  };
  function restore(given: unknown) {
    const unknown: string[] = [];
    const entry = unmaskEntry(given, stored, (path) => unknown.push(path));
    return { entry, unknown };
  }

  test('an entry given back as it was shown is the stored one', () => {
    expect(restore(maskEntry(stored))).toEqual({ entry: stored, unknown: [] });
  });

  test('changed values are taken, masked ones beside them stay', () => {
    const { entry, unknown } = restore({ command: 'y', env: { KEY: M, PORT: '81', NEW: 'n' } });
    expect(entry).toEqual({ command: 'y', env: { KEY: 'secret', PORT: '81', NEW: 'n' } });
    expect(unknown).toEqual([]);
  });

  test('an argument is found again when others before it came or went', () => {
    expect(restore({ args: ['-v', '--token', M, '--password', M] }).entry).toEqual({
      args: ['-v', '--token', 'A', '--password', 'B'],
    });
    expect(restore({ args: ['--password', M] }).entry).toEqual({ args: ['--password', 'B'] });
  });

  test('a mask for which nothing is stored is named with its place, and never gets the secret of another', () => {
    expect(restore({ env: { OTHER: M } }).unknown).toEqual(['env.OTHER']);
    expect(restore({ args: ['--other', M] }).unknown).toEqual(['args.1']);
    expect(restore({ headers: { A: `Bearer ${M}` } }).unknown).toEqual(['headers.A']);
  });
});
