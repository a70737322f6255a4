import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { BrowserContext, Page } from 'playwright-core';
import { api } from '../support/api.js';
import { bareServer, type RunningOrchestrator, startOrchestrator } from '../support/orchestrator.js';
import { eventually, fixture } from '../support/processes.js';
import { featuresServer, textOf } from '../support/road.js';
import { type Agent, startAgent } from './support/agent.js';
import { useBrowser } from './support/browser.js';
import { Keyboard } from './support/keyboard.js';
import { comeIn, shot, visit } from './support/visit.js';

const browser = useBrowser();
let running: RunningOrchestrator;
let agent: Agent;
let guarded: Agent;
let context: BrowserContext;
let page: Page;
let keyboard: Keyboard;

beforeAll(async () => {
  running = await startOrchestrator({
    servers: {
      bare: bareServer,
      features: featuresServer(),
      page: { command: process.execPath, args: [fixture('page-server.mjs')] },
    },
  });
  await api(running)
    .post('/api/sessions')
    .send({ id: 'guarded', tools: { approve: ['bare__*'] } });
  agent = await startAgent(running, 'web-app');
  guarded = await startAgent(running, 'guarded');
  await agent.call('bare__echo', { text: 'well' });
});
afterAll(() => running.stop());

beforeEach(async () => {
  context = await comeIn(browser(), running);
  page = await visit(context, running, '/');
  await page.locator('.scroller [data-place]').first().waitFor();
  keyboard = new Keyboard(page);
});
afterEach(() => expect(keyboard.unseen).toEqual([]));

const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true });
const panel = () => page.getByRole('complementary', { name: 'Call' });
const waiting = async () => (await api(running).get('/api/proposals')).body.proposals.length;
/** What the agent is answered, once somebody has decided. */
const ask = (text: string) => guarded.call('bare__echo', { text }).then(textOf);

test('who has no pointer comes in with the token, and copies how a client connects', async () => {
  const stranger = await browser().newContext();
  const door = await stranger.newPage();
  await door.goto(running.url);
  const hands = new Keyboard(door);
  await hands.to(door.getByLabel('Token'));
  await hands.write(running.token);
  await hands.press('Enter');
  await door.locator('.scroller [data-place]').first().waitFor();
  expect(hands.unseen).toEqual([]);
  await stranger.close();

  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await keyboard.press('g', ',');
  const tabs = page.getByRole('tablist', { name: 'Clients' });
  await keyboard.to(tabs.getByRole('tab', { selected: true }));
  await keyboard.press('ArrowRight');
  const client = await tabs.getByRole('tab', { selected: true }).textContent();
  expect(client).not.toBe('Claude Code');
  await keyboard.choose(
    page.getByRole('region', { name: 'Connect a client' }).getByRole('button', { name: 'Copy' }),
  );
  const shown = await page.getByRole('tabpanel').locator('pre').textContent();
  await eventually(
    'it is copied',
    async () => (await page.evaluate(() => navigator.clipboard.readText())) === shown,
  );
});

test('… finds a failure, reads why, and replays it with other arguments', async () => {
  await agent.call('features__fail', { text: 'on purpose' });
  await agent.call('bare__echo', { text: 'after it' });
  await page.getByText('after it').first().waitFor();
  await keyboard.press('e', 'Enter');
  await panel().getByText('TOOL_FAILED').waitFor();
  const before = page.url();
  await keyboard.choose(panel().getByRole('button', { name: 'Edit and replay…', disabled: false }));
  const dialog = page.getByRole('dialog');
  await keyboard.to(dialog.getByRole('textbox'));
  await keyboard.press('Control+a');
  await keyboard.write('{"text": "once more"}');
  await keyboard.to(dialog.getByLabel(/^It may destroy|^It does not say/));
  await keyboard.press('Space');
  await keyboard.choose(dialog.getByRole('button', { name: 'Run' }));
  await panel().getByText('This is a replay of an earlier call.').waitFor();
  expect(page.url()).not.toBe(before);
  const { calls } = (await api(running).get('/api/calls').query({ q: 'tool:fail', limit: 1 })).body;
  expect(JSON.parse(calls[0].args)).toEqual({ text: 'once more' });
});

test('… approves what was read to its end, and denies with a word', async () => {
  await keyboard.press('g', 'a');
  const long = ask(Array.from({ length: 200 }, (_, n) => `line ${n}`).join('\n'));
  const card = page.getByRole('article');
  await card.getByText('Read to the end of the arguments to approve.').waitFor();
  await keyboard.to(card.getByRole('region', { name: 'Arguments, whole' }));
  await keyboard.press('End');
  const approve = card.getByRole('button', { name: 'Approve once', disabled: false });
  await approve.waitFor();
  await keyboard.press('Escape', 'Enter', 'Space');
  await keyboard.to(approve);
  await keyboard.press('Escape');
  expect(await waiting()).toBe(1);
  await keyboard.press('Enter');
  expect(await long).toContain('line 199');

  await keyboard.choose(card.getByRole('button', { name: 'Put away' }));
  await card.waitFor({ state: 'detached' });
  const refused = ask('to be refused');
  await keyboard.to(card.getByRole('textbox', { name: /^Note to the agent/ }));
  await keyboard.write('not today');
  await keyboard.press('Escape');
  await keyboard.to(card.getByRole('button', { name: /^Deny/ }));
  await keyboard.press('Escape');
  expect(await waiting()).toBe(1);
  await keyboard.press('Enter');
  expect(await refused).toContain('not today');
});

test('… ends a session, and whoever thinks better of it is where they were', async () => {
  await startAgent(running, 'short-lived').then((one) => one.call('bare__echo', { text: 'short' }));
  await keyboard.press('g', 's');
  await keyboard.choose(page.getByTitle('short-lived').and(page.getByRole('link')));
  const end = button('End session…');
  await keyboard.choose(end);
  const dialog = page.getByRole('dialog', { name: 'End the session?' });
  await dialog.waitFor();
  for (let stop = 0; stop < 8; stop++) {
    await keyboard.press('Tab');
    // The browser's own parts are outside of the page, and the body stands for them.
    const isInside = () =>
      document.activeElement === document.body || document.activeElement?.closest('dialog');
    expect(await page.evaluate(isInside)).toBeTruthy();
  }
  await keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  expect(await end.evaluate((element) => element === document.activeElement)).toBe(true);
  await keyboard.press('Enter');
  await keyboard.choose(dialog.getByRole('button', { name: 'End it' }));
  await page.waitForURL(/\/sessions$/);
  const { sessions } = (await api(running).get('/api/sessions')).body;
  expect(sessions.map(({ id }: { id: string }) => id)).not.toContain('short-lived');
});

test('… writes a configuration, is told what is wrong, and saves it', async () => {
  await keyboard.press('g', 'v');
  await keyboard.choose(page.getByRole('link', { name: 'bare', exact: true }));
  await keyboard.to(page.getByRole('tab', { name: 'Why' }));
  await keyboard.press('ArrowRight', 'ArrowRight', 'ArrowRight');
  const editor = page.getByRole('textbox', { name: 'Configuration' });
  await keyboard.to(editor);
  const write = async (entry: object) => {
    await keyboard.press('Control+a');
    await keyboard.write(JSON.stringify({ bare: entry }, null, 2));
  };
  await write({ ...bareServer, arg: [] });
  await page
    .getByText(/"arg" is not known/)
    .first()
    .waitFor();
  await write({ ...bareServer, description: 'Written by keys' });
  await page.getByText('It can be saved.').waitFor();
  await keyboard.choose(button('Review, save…'));
  await page.getByRole('region', { name: 'What would change' }).getByText('/bare/description').waitFor();
  await keyboard.choose(button('Save'));
  await page.getByRole('status', { name: 'Saved' }).getByText('ready').waitFor();
  expect((await api(running).get('/api/servers/bare')).body.description).toBe('Written by keys');
  await shot(page, 'saved-by-keys');
});
