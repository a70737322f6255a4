import { createInterface } from 'node:readline';
import { expect, test } from '@jest/globals';
import { behindLogin } from '../support/behind-login.js';
import { browse } from '../support/login-house.js';
import { ended, root, startNode } from '../support/processes.js';

const here = behindLogin();

function command(...args: string[]) {
  const env = { MCPBRIDGE_HOME: here.running.home, PORT: String(here.running.port) };
  const child = startNode(`${root}/packages/orchestrator/dist/main.js`, ['oauth', ...args], env);
  const lines: string[] = [];
  const reader = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  const address = new Promise<string>((resolve) => {
    reader.on('line', (line) => {
      lines.push(line);
      if (line.trim().startsWith('http')) resolve(line.trim());
    });
  });
  let errors = '';
  child.stderr?.on('data', (chunk) => (errors += chunk));
  return { child, address, said: () => lines.join('\n') + errors };
}

test('the command signs in with a browser on another machine: its last address is pasted', async () => {
  const { child, address, said } = command('login', 'guarded');
  child.stdin?.write(`${await browse(await address, 'ada')}\n`);
  expect((await ended(child)).code).toBe(0);
  expect(said()).toContain('Signed in at "guarded".');
  expect((await here.call()).body.success).toBe(true);
});

test('it ends by itself when the browser came back here; status and logout say what is so', async () => {
  const out = command('logout', 'guarded');
  expect((await ended(out.child)).code).toBe(0);
  const { child, address } = command('login', 'guarded');
  await fetch(await browse(await address, 'bob'));
  expect((await ended(child)).code).toBe(0);
  const status = command('status');
  expect((await ended(status.child)).code).toBe(0);
  expect(status.said()).toMatch(/^guarded {3}signed_in/);
});

test('a server that is not there, and a wrong address, are said in one line', async () => {
  const none = command('login', 'guardedd');
  expect((await ended(none.child)).code).toBe(1);
  expect(none.said()).toContain('There is no server "guardedd".');
  const wrong = command('login', 'guarded');
  await wrong.address;
  wrong.child.stdin?.write('http://127.0.0.1:1/api/oauth/callback?code=x&state=y\n');
  expect((await ended(wrong.child)).code).toBe(1);
  expect(wrong.said()).toContain('This sign-in is not known here');
});
