import { describe, expect, test } from '@jest/globals';
import { applyDiff } from '@mcpbridge/workspace-api/diff/apply-diff.js';

const before = 'one\ntwo\nthree\nfour\nfive\nsix\n';
const hunk = (header: string, ...lines: string[]) => `--- a/f\n+++ b/f\n${header}\n${lines.join('\n')}\n`;
const attempt = (text: string | undefined, diff: string) => {
  try {
    return applyDiff(text, diff, 'f.txt');
  } catch (error) {
    return (error as { code: string }).code;
  }
};

test.each([
  [
    'as it says',
    before,
    hunk('@@ -2,3 +2,3 @@', ' two', '-three', '+3', ' four'),
    'exact',
    'one\ntwo\n3\nfour\nfive\nsix\n',
  ],
  [
    'at another line',
    before,
    hunk('@@ -90,3 +90,3 @@', ' two', '-three', '+3', ' four'),
    'repaired',
    'one\ntwo\n3\nfour\nfive\nsix\n',
  ],
  [
    'with wrong counts',
    before,
    hunk('@@ -2,9 +2,1 @@', ' two', '-three', '+3', ' four'),
    'repaired',
    'one\ntwo\n3\nfour\nfive\nsix\n',
  ],
  [
    'without numbers',
    before,
    hunk('@@', ' two', '-three', '+3', ' four'),
    'repaired',
    'one\ntwo\n3\nfour\nfive\nsix\n',
  ],
  [
    'without file names',
    before,
    '@@ -2,2 +2,2 @@\n two\n-three\n+3\n',
    'exact',
    'one\ntwo\n3\nfour\nfive\nsix\n',
  ],
  [
    'in a fence',
    before,
    `\`\`\`diff\n${hunk('@@ -2,2 +2,2 @@', ' two', '-three', '+3')}\`\`\``,
    'exact',
    'one\ntwo\n3\nfour\nfive\nsix\n',
  ],
  [
    'with signs missing before context',
    before,
    hunk('@@ -2,3 +2,3 @@', 'two', '-three', '+3', 'four'),
    'repaired',
    'one\ntwo\n3\nfour\nfive\nsix\n',
  ],
  [
    'with other white space',
    'a\n\tif (x)  {\nb\n',
    hunk('@@ -1,3 +1,3 @@', ' a', '-  if (x) {', '+  if (y) {', ' b'),
    'repaired',
    'a\n  if (y) {\nb\n',
  ],
  [
    'with white space behind lines',
    'a  \nb\n',
    hunk('@@ -1,2 +1,2 @@', ' a', '-b', '+c'),
    'repaired',
    'a  \nc\n',
  ],
  [
    'with context that is a little different',
    before,
    hunk('@@ -1,4 +1,4 @@', ' ONE', ' two', '-three', '+3', ' four'),
    'repaired',
    'one\ntwo\n3\nfour\nfive\nsix\n',
  ],
  [
    'of two parts',
    before,
    hunk('@@ -1,2 +1,1 @@', '-one', ' two', '@@ -5,2 +4,3 @@', ' five', ' six', '+seven'),
    'exact',
    'two\nthree\nfour\nfive\nsix\nseven\n',
  ],
  ['to a file of Windows', 'a\r\nb\r\n', hunk('@@ -1,2 +1,2 @@', ' a', '-b', '+c'), 'exact', 'a\r\nc\r\n'],
  ['without a newline at the end', 'a\nb', hunk('@@ -1,2 +1,2 @@', ' a', '-b', '+c'), 'exact', 'a\nc'],
  [
    'that adds alone',
    before,
    hunk('@@ -1,0 +2,1 @@', '+new'),
    'exact',
    'one\nnew\ntwo\nthree\nfour\nfive\nsix\n',
  ],
  ['that makes the file', undefined, '--- /dev/null\n+++ b/f\n@@ -0,0 +1,2 @@\n+a\n+b\n', 'exact', 'a\nb\n'],
  ['that fills an empty file', '', hunk('@@ -0,0 +1 @@', '+a'), 'exact', 'a\n'],
])('a diff %s is applied', (_name, text, diff, how, after) => {
  expect(attempt(text, diff)).toMatchObject({ how, text: after });
});

test.each([
  [
    'whose lines are not there',
    before,
    hunk('@@ -2,3 +2,3 @@', ' two', '-drei', '+3', ' four'),
    'DIFF_NOT_APPLIED',
  ],
  [
    'of which one part does not fit',
    before,
    hunk('@@ -1 +1 @@', '-one', '+1', '@@ -5 +5 @@', '-fünf', '+5'),
    'DIFF_NOT_APPLIED',
  ],
  ['without numbers that fits twice', 'a\nb\na\nb\n', hunk('@@', ' a', '-b', '+c'), 'DIFF_NOT_APPLIED'],
  ['without numbers that only adds', before, hunk('@@', '+new'), 'DIFF_NOT_APPLIED'],
  [
    'of two files',
    before,
    `${hunk('@@ -1 +1 @@', '-one', '+1')}${hunk('@@ -1 +1 @@', '-one', '+1')}`,
    'INVALID_REQUEST',
  ],
  ['that is none', before, 'please change line 3', 'INVALID_REQUEST'],
  ['that makes what is there', before, '--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+a\n', 'CONFLICT'],
  ['that changes what is not there', undefined, hunk('@@ -1 +1 @@', '-one', '+1'), 'NOT_FOUND'],
  ['that deletes the file', before, '--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n', 'INVALID_REQUEST'],
])('a diff %s is refused', (_name, text, diff, code) => {
  expect(attempt(text, diff)).toBe(code);
});

describe('a diff that does not fit', () => {
  const refusal = (text: string, diff: string) => {
    try {
      applyDiff(text, diff, 'f.txt');
    } catch (error) {
      return error as { message: string; details: unknown };
    }
    throw new Error('It was applied.');
  };

  test('shows the place that has the most of its lines', () => {
    const text = `${before}${'filler\n'.repeat(500)}alpha\nbeta\ngamma\ndelta\n`;
    const { message, details } = refusal(
      text,
      hunk('@@ -1,4 +1,4 @@', ' alpha', ' beta', '-GAMMA', '+g', ' delta'),
    );
    expect(details).toMatchObject({
      part: 1,
      parts: 1,
      nearest: { line: 507, text: 'alpha\nbeta\ngamma\ndelta' },
    });
    expect(message).toContain('line 507:\nalpha\nbeta\ngamma\ndelta');
  });

  test('shows the line that has the most of its words, where no line is the same', () => {
    const text = 'import x\nconst total = price * count;\nreturn total;\n';
    const { details } = refusal(
      text,
      hunk('@@ -2 +2 @@', '-const total = price * amount;', '+const total = 0;'),
    );
    expect(details).toMatchObject({ nearest: { line: 2 } });
  });
});
