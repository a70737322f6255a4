import { describe, expect, test } from '@jest/globals';
import { exposedName, MAX_EXPOSED_NAME, nearestHint, nearestNames } from '@mcpbridge/shared/tool-names.js';

describe('the listed name of a tool', () => {
  test('is server__tool where every client takes it', () => {
    expect(exposedName('github', 'create_issue')).toBe('github__create_issue');
  });

  test('has only letters that every client takes, and a hash that tells replaced ones apart', () => {
    const names = ['a.b', 'a/b', 'ä_b', 'a_b'].map((tool) => exposedName('s', tool));
    for (const name of names) expect(name).toMatch(/^[a-zA-Z_][a-zA-Z0-9_-]*$/);
    expect(new Set(names).size).toBe(4);
    expect(names[3]).toBe('s__a_b');
  });

  test('begins with a letter or an underscore, also for a server whose name begins with a digit', () => {
    expect(exposedName('1password', 'get')).toMatch(/^_1password__get_[0-9a-f]{6}$/);
  });

  test('is cut to the length of the strictest client, and stays one of a kind', () => {
    const long = 'x'.repeat(60);
    const names = [exposedName('server', `${long}a`), exposedName('server', `${long}b`)];
    for (const name of names) expect(name).toHaveLength(MAX_EXPOSED_NAME);
    expect(names[0]).not.toBe(names[1]);
    expect(exposedName('server', `${long}a`)).toBe(names[0]);
  });
});

describe('the nearest names', () => {
  const known = ['create_issue', 'update_issue', 'list_repos'];

  test('are those that a mistyped one may have meant, nearest first', () => {
    expect(nearestNames('creat_issue', known)).toEqual(['create_issue', 'update_issue']);
    expect(nearestNames('issue', known)).toEqual(['create_issue', 'update_issue']);
  });

  test('are none when nothing is near', () => {
    expect(nearestHint('zzzz', known)).toBe('');
    expect(nearestHint('list_repo', known)).toBe(' Nearest: "list_repos".');
  });
});
