import { describe, expect, test } from '@jest/globals';
import { mergeServers } from '@mcpbridge/orchestrator/config/merge-servers.js';

const map = (servers: Record<string, unknown>) => new Map(Object.entries(servers));
const merge = (base: Record<string, unknown>, overlay: Record<string, unknown>) =>
  Object.fromEntries(mergeServers(map(base), map(overlay)));
const account = (file: string, rest: object = {}) => ({
  url: 'https://mail.example/mcp',
  oauth: { token_file: file },
  ...rest,
});

describe('merge of base and overlay', () => {
  test('servers of either file are there, each with its origin', () => {
    const merged = merge({ a: { command: 'a' } }, { b: { command: 'b' } });
    expect(merged).toEqual({
      a: { origin: 'base', raw: { command: 'a' } },
      b: { origin: 'overlay', raw: { command: 'b' } },
    });
  });

  test('of two entries with one name the overlay counts, whole', () => {
    const merged = merge({ a: { command: 'a', env: { X: '1' } } }, { a: { command: 'other' } });
    expect(merged).toEqual({ a: { origin: 'overlay', raw: { command: 'other' } } });
  });

  test('two accounts of one service both stay: the overlay keeps the id, the base becomes NAME-base', () => {
    const merged = merge({ mail: account('work.json') }, { mail: account('home.json') });
    expect(Object.keys(merged).sort()).toEqual(['mail', 'mail-base']);
    expect(merged.mail).toEqual({ origin: 'overlay', raw: account('home.json') });
    expect(merged['mail-base']).toMatchObject({ origin: 'base', separatedFrom: 'mail' });
    expect(merged['mail-base']?.raw).toMatchObject(account('work.json'));
  });

  test('the description of the separated account says that it is another, after what it said before', () => {
    const merged = merge(
      { mail: account('work.json', { description: 'Letters' }), chat: account('1.json') },
      { mail: account('home.json'), chat: account('2.json') },
    );
    expect(merged['mail-base']?.raw).toMatchObject({
      description: expect.stringMatching(/^Letters .*"mail"/),
    });
    expect(merged['chat-base']?.raw).toMatchObject({ description: expect.stringContaining('"chat"') });
  });

  test.each([
    ['base', { 'mail-base': { command: 'x' } }, {}],
    ['overlay', {}, { 'mail-base': { command: 'x' } }],
  ])('NAME-base that is taken in the %s gives NAME-base-2', (_, inBase, inOverlay) => {
    const merged = merge(
      { mail: account('work.json'), ...inBase },
      { mail: account('home.json'), ...inOverlay },
    );
    expect(Object.keys(merged).sort()).toEqual(['mail', 'mail-base', 'mail-base-2']);
    expect(merged['mail-base']?.raw).toEqual({ command: 'x' });
    expect(merged['mail-base-2']).toMatchObject({ separatedFrom: 'mail' });
  });

  test('NAME-base-3 follows when NAME-base-2 is taken as well', () => {
    const merged = merge(
      { mail: account('work.json'), 'mail-base': { command: 'x' } },
      { mail: account('home.json'), 'mail-base-2': { command: 'y' } },
    );
    expect(Object.keys(merged).sort()).toEqual(['mail', 'mail-base', 'mail-base-2', 'mail-base-3']);
    expect(merged['mail-base-3']).toMatchObject({ separatedFrom: 'mail' });
  });

  test.each([
    ['the same token file', account('one.json'), account('one.json')],
    ['no token file in the base', { url: 'https://a.example' }, account('one.json')],
    ['no token file in the overlay', account('one.json'), { url: 'https://a.example' }],
    ['an empty token file', account(''), account('one.json')],
    ['a token file that is no text', { oauth: { token_file: 7 } }, account('one.json')],
  ])('%s: the overlay replaces the base', (_, base, overlay) => {
    expect(merge({ mail: base }, { mail: overlay })).toEqual({ mail: { origin: 'overlay', raw: overlay } });
  });

  test('an overlay entry that only says "disabled" switches the server of the base off and keeps its definition', () => {
    const merged = merge({ a: { command: 'a' } }, { a: { disabled: true } });
    expect(merged).toEqual({ a: { origin: 'base', raw: { command: 'a', disabled: true } } });
  });

  test('an overlay entry that only says "enabled" switches a disabled server of the base on', () => {
    const merged = merge({ a: { command: 'a', disabled: true } }, { a: { enabled: true } });
    expect(merged).toEqual({ a: { origin: 'base', raw: { command: 'a' } } });
  });

  test('a switch reaches the separated account and takes no name from it', () => {
    const merged = merge(
      { mail: account('work.json') },
      { mail: account('home.json'), 'mail-base': { disabled: true } },
    );
    expect(Object.keys(merged).sort()).toEqual(['mail', 'mail-base']);
    expect(merged['mail-base']?.raw).toMatchObject({ disabled: true, oauth: { token_file: 'work.json' } });
  });

  test('a switch for a server that is not there is nothing', () => {
    expect(merge({}, { gone: { disabled: true } })).toEqual({});
  });

  test('what was given is not changed', () => {
    const base = map({ mail: account('work.json', { description: 'Letters' }), b: { command: 'b' } });
    const overlay = map({ mail: account('home.json'), b: { disabled: true } });
    const copies = structuredClone([base, overlay]);
    mergeServers(base, overlay);
    expect([base, overlay]).toEqual(copies);
  });
});
