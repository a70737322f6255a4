import { describe, expect, test } from '@jest/globals';
import { chooseDialect } from '@mcpbridge/orchestrator/dialects/choose.js';
import { fittingNames } from '@mcpbridge/orchestrator/dialects/names.js';
import { DIALECTS } from '@mcpbridge/orchestrator/dialects/table.js';

describe('which dialect is spoken', () => {
  const of = (name: string) => chooseDialect(undefined, undefined, { name, version: '1' });

  test('is known by the name that the client gives itself, whatever its letters and whatever carries it', () => {
    expect(of('claude-code')).toBe(DIALECTS.claude);
    expect(of('codex-mcp-client')).toBe(DIALECTS.openai);
    expect(of('gemini-cli-mcp-client-bridge')).toBe(DIALECTS.gemini);
    expect(of('github-copilot-developer')).toBe(DIALECTS.copilot);
    expect(of('Visual Studio Code - Insiders')).toBe(DIALECTS.vscode);
    expect(of('cursor-vscode (via mcp-remote 0.1.37)')).toBe(DIALECTS.cursor);
    expect(of('opencode')).toBe(DIALECTS.opencode);
  });

  test('is none for a client that is not known', () => {
    expect(of('claude-code-like')).toBeUndefined();
    expect(chooseDialect(undefined, undefined, undefined)).toBeUndefined();
    expect(chooseDialect(undefined, undefined, { name: 7 })).toBeUndefined();
  });

  test('is what the client asks for, before what is set for all, before its name', () => {
    const claude = { name: 'claude-code' };
    expect(chooseDialect('Gemini', 'openai', claude)).toBe(DIALECTS.gemini);
    expect(chooseDialect(undefined, 'openai', claude)).toBe(DIALECTS.openai);
    expect(chooseDialect('off', 'openai', claude)).toBeUndefined();
    expect(chooseDialect(undefined, 'off', claude)).toBeUndefined();
    expect(() => chooseDialect('latin', undefined, claude)).toThrow(/"latin": set it to one of off, claude,/);
  });
});

describe('names in a dialect', () => {
  const rules = { longest: 20, foreign: /[^A-Za-z0-9_-]/g };

  test('stay as they are where they fit', () => {
    expect(fittingNames(['a', 'server__tool', 'with-dash'], rules)).toEqual([
      'a',
      'server__tool',
      'with-dash',
    ]);
  });

  test('are cut to length, freed of what is not taken, and never alike', () => {
    const long = 'x'.repeat(30);
    const names = fittingNames([`${long}1`, `${long}2`, 'a.b', 'a/b', 'a_b', '1st'], rules);
    for (const name of names) expect(name).toMatch(/^[A-Za-z_][A-Za-z0-9_-]{0,19}$/);
    expect(new Set(names).size).toBe(6);
    expect(names[4]).toBe('a_b');
  });

  test("are never another tool's real name", () => {
    const [given] = fittingNames(['a.b'], rules);
    const names = fittingNames(['a.b', String(given)], rules);
    expect(names[1]).toBe(given);
    expect(names[0]).not.toBe(given);
  });

  test('that the client would take for each other are told apart, and no others', () => {
    const blurring = { ...rules, blurred: /-/g };
    const [dashed, plain, alone] = fittingNames(['a-b', 'a_b', 'c-d'], blurring);
    expect(dashed).toMatch(/^a_b_[0-9a-f]{6}$/);
    expect([plain, alone]).toEqual(['a_b', 'c-d']);
  });
});
