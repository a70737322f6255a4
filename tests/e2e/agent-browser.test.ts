import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { verifies } from '../requirements.js';
import { api } from '../support/api.js';
import { type RunningOrchestrator, startOrchestrator } from '../support/orchestrator.js';
import { ended, eventually } from '../support/processes.js';
import { startPages, type WebPages } from '../support/web-page.js';

let pages: WebPages;
let forbidden: WebPages;
let running: RunningOrchestrator;
let home: string;
const ends: (() => Promise<void>)[] = [];

beforeAll(async () => {
  pages = await startPages();
  forbidden = await startPages();
  home = `http://127.0.0.1:${pages.port}/`;
  running = await start();
}, 60_000);

afterAll(async () => {
  await Promise.allSettled(ends.map((end) => end()));
  await pages.stop();
  await forbidden.stop();
}, 60_000);

async function start(env: Record<string, string> = {}): Promise<RunningOrchestrator> {
  const started = await startOrchestrator({
    env: { BROWSER_ALLOWED_HOSTS: `127.0.0.1:${pages.port}`, ...env },
  });
  ends.push(() => started.stop());
  return started;
}

interface Answer {
  success: boolean;
  result: string;
  content: { type: string; data?: string; mimeType?: string }[];
}

async function send(
  command: string,
  args: string[] = [],
  { session = 'surfer', name = 'main', at = running } = {},
): Promise<Answer> {
  const body = { command, args, session: name };
  return (await api(at, session).post('/api/tools/custom/agent_browser').send(body)).body;
}

async function done(command: string, args: string[] = [], where = {}): Promise<string> {
  const { success, result } = await send(command, args, where);
  expect({ command, args, success, result }).toMatchObject({ success: true });
  return result;
}

/** Processes whose profile is in that orchestrator's home. */
function browsersOf({ home: folder }: RunningOrchestrator): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(`--user-data-dir=${folder}/`);
      } catch {
        return false;
      }
    });
}

verifies(
  'browser.commands',
  async () => {
    expect(await done('open', [home])).toBe(`${home}\nOrders`);
    const snapshot = await done('snapshot');
    expect(snapshot).toContain('heading "Orders"');
    const box = /textbox "Name"[^\n]*\[ref=(e\d+)\]/.exec(snapshot)?.[1] ?? '';
    const button = /button "Send"[^\n]*\[ref=(e\d+)\]/.exec(snapshot)?.[1] ?? '';
    await done('fill', [`@${box}`, 'Wor']);
    await done('type', [box, 'ld']);
    await done('select', ['#size', 'large']);
    await done('click', [button]);
    expect(await done('get', ['text', '#said'])).toBe('Hello World (large)');
    await done('fill', ['#name', 'you']);
    await done('press', ['Enter', '#name']);
    expect(await done('get', ['text', '#said'])).toBe('Hello you (large)');
    expect(await done('get', ['value', '#name'])).toBe('you');
    expect(await done('get', ['attribute', '#name', 'name'])).toBe('name');
    expect(await done('get', ['count', 'option'])).toBe('2');
    expect(await done('get', ['title'])).toBe('Orders');
    expect(await done('get', ['html', '#said'])).toBe('Hello you (large)');
    await done('hover', ['text=Second']);
    await done('scroll', ['#below']);
    expect(Number(await done('eval', ['scrollY']))).toBeGreaterThan(500);
    expect(await done('console')).toContain('[log] loaded');
    await done('wait', ['#below']);
    await done('click', ['text=Second']);
    await done('wait', ['load']);
    await done('click', ['text=Throw']);
    expect(await done('dialogs')).toContain('alert: Sure?');
    expect(await done('errors')).toContain('thrown by the page');
    expect(await done('back')).toContain('Orders');
    expect(await done('forward')).toContain('Second');
    expect(await done('reload')).toContain('Second');
    expect(await done('tab', ['new', home])).toContain(`*2 ${home}`);
    expect(await done('tab', ['1'])).toContain(`*1 ${home}second`);
    expect((await done('tab', ['close', '2'])).split('\n')).toHaveLength(1);
    expect(await done('network')).toContain(`GET ${home} 200`);
    expect(await done('status')).toBe('Open: main');
    expect(await done('help')).toContain('screenshot');
  },
  60_000,
);

test('a picture of the page is an image, and lands in the workspace when asked to', async () => {
  await done('open', [home]);
  const { content } = await send('screenshot', ['shots/page.png']);
  const image = content.find(({ type }) => type === 'image');
  expect(image?.mimeType).toBe('image/png');
  const file = readFileSync(join(running.workspace, 'sessions/surfer/shots/page.png'));
  expect(file.toString('base64')).toBe(image?.data);
  expect(file.subarray(1, 4).toString()).toBe('PNG');
}, 30_000);

test('files come from and go to the session’s workspace, and from nowhere else', async () => {
  mkdirSync(join(running.workspace, 'sessions/surfer'), { recursive: true });
  writeFileSync(join(running.workspace, 'sessions/surfer/note.txt'), 'a note');
  writeFileSync(join(running.workspace, 'secret.txt'), 'of somebody else');
  await done('open', [home]);
  await done('upload', ['#file', 'note.txt']);
  await done('wait', ['text=note.txt: a note']);
  expect(await done('download', ['text=Report', 'report.csv'])).toContain('8 bytes');
  expect(readFileSync(join(running.workspace, 'sessions/surfer/report.csv'), 'utf8')).toBe('a,b\n1,2\n');
  for (const path of ['../../secret.txt', join(running.workspace, 'secret.txt'), `${running.home}/token`])
    expect(await send('upload', ['#file', path])).toMatchObject({
      success: false,
      result: expect.stringMatching(/The path .* (leads out|is not within)/),
    });
}, 30_000);

verifies(
  'browser.private',
  async () => {
    const { port } = forbidden;
    await done('open', [home]);
    for (const url of [
      `http://127.0.0.1:${port}/`,
      `http://localhost:${port}/`,
      `http://[::1]:${port}/`,
      `http://2130706433:${port}/`,
      `http://0x7f.1:${port}/`,
      `http://[::ffff:127.0.0.1]:${port}/`,
      `http://127.0.0.1:${running.port}/health`,
      'http://169.254.169.254/latest/meta-data/',
      'https://10.0.0.1/',
    ])
      expect([url, (await send('open', [url])).result]).toEqual([
        url,
        expect.stringContaining('BROWSER_ALLOWED_HOSTS'),
      ]);
    for (const url of [
      `file://${running.home}/token`,
      'chrome://version',
      'view-source:file:///etc/passwd',
      'javascript:1',
    ])
      expect([url, (await send('open', [url])).result]).toEqual([
        url,
        expect.stringContaining('http and https'),
      ]);

    // What the page itself tries: another way than the address bar.
    const away = `${home}away?to=${encodeURIComponent(`http://127.0.0.1:${port}/redirected`)}`;
    expect((await send('open', [away])).result).toContain('403');
    expect(await done('get', ['text'])).toContain('is not a public address');
    await done('open', [home]);
    const tried = await done('eval', [
      `Promise.all(['http://127.0.0.1:${port}/fetched', 'http://localhost:${port}/fetched'].map((url) =>
      fetch(url, { mode: 'no-cors' }).then((answer) => answer.type, (error) => error.name)))`,
    ]);
    expect(tried).toContain('opaque');
    const socket = await done('eval', [
      `new Promise((resolve) => { const socket = new WebSocket('ws://127.0.0.1:${port}/socket');
      socket.onopen = () => resolve('open'); socket.onerror = () => resolve('refused'); })`,
    ]);
    expect(socket).toContain('refused');
    await done('eval', [
      `(document.body.innerHTML = '<iframe src="http://127.0.0.1:${port}/framed"></iframe><img src="http://127.0.0.1:${port}/image">', 1)`,
    ]);
    await done('wait', ['networkidle']);
    await send('eval', [`location.href = 'file://${running.home}/token'`]);
    expect(await done('get', ['text'])).not.toContain(running.token);
    expect(forbidden.asked).toEqual([]);
  },
  60_000,
);

test('two sessions share neither pages nor what pages stored', async () => {
  await done('open', [home], { session: 'one' });
  await done('reload', [], { session: 'one' });
  await done('open', [home], { session: 'two' });
  expect(await done('eval', ['localStorage.visits'], { session: 'one' })).toBe('"2"');
  expect(await done('eval', ['localStorage.visits'], { session: 'two' })).toBe('"1"');
  expect(await done('status', [], { session: 'three' })).toBe('Open: none');

  await done('close', [], { session: 'one' });
  await done('open', [home], { session: 'one' });
  expect(await done('eval', ['localStorage.visits'], { session: 'one' })).toBe('"3"');
  await done('reset', [], { session: 'one' });
  await done('open', [home], { session: 'one' });
  expect(await done('eval', ['localStorage.visits'], { session: 'one' })).toBe('"1"');
}, 60_000);

test('what goes wrong is told in a sentence', async () => {
  await done('open', [home]);
  expect((await send('dance')).result).toMatch(/^There is no command "dance"/);
  expect((await send('click')).result).toBe('The target is missing: give it as args[0].');
  expect((await send('open', [`${home}missing`])).result).toContain('The server answered 404');
  expect((await send('eval', ['nonsense('])).success).toBe(false);
  expect((await send('tab', ['9'])).result).toMatch(/^There is no tab 9; there /);
}, 30_000);

verifies(
  'browser.ends',
  async () => {
    const other = await start({ UPSTREAM_IDLE_TIMEOUT: '1s' });
    const where = { session: 'idle', at: other };
    await done('open', [home], where);
    expect(browsersOf(other).length).toBeGreaterThan(0);
    await eventually('the idle browser is gone', () => browsersOf(other).length === 0, 20_000);
    expect(await done('open', [home], where)).toContain('Orders');
    expect(await done('eval', ['localStorage.visits'], where)).toBe('"2"');

    await done('open', [home], { session: 'ending', at: other });
    const { status } = await api(other).delete('/api/sessions/ending');
    expect(status).toBeLessThan(300);
    await eventually(
      'the session’s browser and profile are gone',
      () => profiles(other).length === 1,
      20_000,
    );

    const killed = await start();
    await done('open', [home], { session: 'x', at: killed });
    killed.process.kill('SIGKILL');
    await ended(killed.process);
    await eventually(
      'the browser is gone with its orchestrator',
      () => browsersOf(killed).length === 0,
      20_000,
    );
    expect(profiles(killed)).toHaveLength(1);
    const again = await startOrchestrator({
      again: killed,
      env: { BROWSER_ALLOWED_HOSTS: `127.0.0.1:${pages.port}` },
    });
    ends.push(() => again.stop());
    await done('open', [home], { session: 'y', at: again });
    expect(profiles(again)).toEqual([`${again.process.pid}-1`]);
    again.process.kill('SIGTERM');
    await ended(again.process);
    expect(browsersOf(again)).toEqual([]);
    expect(profiles(again)).toEqual([]);
  },
  90_000,
);

function profiles({ home: folder }: RunningOrchestrator): string[] {
  const where = join(folder, 'browsers');
  return existsSync(where) ? readdirSync(where) : [];
}

test('without Chromium the answer says how to get it', async () => {
  const bare = join(running.home, 'bin');
  mkdirSync(bare, { recursive: true });
  const without = await start({ PATH: bare });
  const { success, result } = await send('open', [home], { session: 'x', name: 'main', at: without });
  expect(success).toBe(false);
  expect(result).toMatch(/needs Chromium.*apt-get install chromium.*BROWSER_PATH/);
  const wrong = await start({ BROWSER_PATH: '/nowhere/chromium' });
  expect((await send('open', [home], { session: 'x', name: 'main', at: wrong })).result).toContain(
    '/nowhere/chromium',
  );
}, 30_000);

test('the browser sees nothing of the orchestrator’s environment', async () => {
  await done('open', [home], { session: 'env' });
  const [pid] = browsersOf(running);
  const environment = readFileSync(`/proc/${pid}/environ`, 'utf8');
  expect(environment).not.toContain('MCPBRIDGE_HOME');
  expect(readlinkSync(`/proc/${pid}/cwd`)).toBeDefined();
}, 30_000);
