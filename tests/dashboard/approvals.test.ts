import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { verifies } from '../requirements.js';
import { api } from '../support/api.js';
import { bareServer, type RunningOrchestrator, startOrchestrator } from '../support/orchestrator.js';
import { type Agent, startAgent } from './support/agent.js';
import { useBrowser } from './support/browser.js';
import { open, shot } from './support/visit.js';

const browser = useBrowser();
let running: RunningOrchestrator;
let agent: Agent;

beforeAll(async () => {
  running = await startOrchestrator({ servers: { bare: bareServer } });
  await api(running)
    .post('/api/sessions')
    .send({ id: 'guarded', tools: { allow: ['bare__*', 'human_feedback'], approve: ['bare__*'] } });
  agent = await startAgent(running, 'guarded');
});
afterAll(() => running.stop());
/** What a test left waiting waits for nobody. */
afterEach(async () => {
  const { proposals } = (await api(running).get('/api/proposals')).body;
  for (const { id } of proposals) await api(running).post(`/api/proposals/${id}`).send({ accept: false });
});

const cards = (page: Page) => page.getByRole('article');
const approve = (page: Page) => page.getByRole('button', { name: /^Approve/ });
const textOf = (frame: Awaited<ReturnType<Agent['call']>>) => frame.result?.content?.[0]?.text;

test('a waiting call is in the header and among the approvals of two browsers; who decides is told to the other', async () => {
  const [one, other] = [await open(browser(), running, '/approvals'), await open(browser(), running, '/')];
  await one.getByText('Nothing waits for you').waitFor();
  const call = agent.call('bare__echo', { text: 'may I?' });
  await cards(one).getByText('may I?').waitFor();
  await other.getByRole('link', { name: '1 call waits for you' }).click();
  await cards(other).getByText('may I?').waitFor();
  expect(await other.title()).toMatch(/^\(1\) Approvals/);
  await cards(one).getByText('approve bare__*').waitFor();
  await shot(one, 'approvals');
  const [{ id }] = (await api(running).get('/api/proposals')).body.proposals;
  await approve(one).click();
  expect(textOf(await call)).toBe('may I?');
  await cards(other)
    .getByText(/approved by owner/)
    .waitFor();
  expect(await approve(other).count()).toBe(0);
  expect((await api(running).post(`/api/proposals/${id}`).send({ accept: false })).status).toBe(404);
  await other.getByRole('tab', { name: 'Decided' }).click();
  await other.getByRole('cell', { name: 'approved' }).waitFor();
});

test('what waits is on its card, and in the header of another browser, within 200 ms', async () => {
  const [one, other] = [
    await open(browser(), running, '/approvals'),
    await open(browser(), running, '/stats'),
  ];
  // Looked at from within the page, so that only its own road is measured.
  const seenAt = (page: Page, selector: string, words: string) =>
    page.evaluate(
      async (wanted) => {
        while (!document.querySelector(wanted.selector)?.textContent?.includes(wanted.words))
          await new Promise((next) => requestAnimationFrame(next));
        return Date.now();
      },
      { selector, words },
    );
  const waits: number[] = [];
  for (let n = 0; n < 5; n++) {
    const seen = Promise.all([seenAt(one, '.card:not(.ended)', `now ${n}`), seenAt(other, '.waits', '1')]);
    const begun = Date.now();
    const call = agent.call('bare__echo', { text: `now ${n}` });
    waits.push(Math.max(...(await seen)) - begun);
    const { proposals } = (await api(running).get('/api/proposals')).body;
    await api(running).post(`/api/proposals/${proposals[0].id}`).send({ accept: true });
    await call;
    await other.locator('.waits').waitFor({ state: 'detached' });
  }
  expect(Math.min(...waits)).toBeLessThan(200);
});

verifies('dashboard.approvals', async () => {
  const page = await open(browser(), running, '/approvals');
  const long = Array.from({ length: 200 }, (_, n) => `line ${n}`).join('\n');
  const first = agent.call('bare__echo', { text: long });
  await cards(page).first().getByText('line 199').waitFor();
  await page.getByText('Read to the end of the arguments to approve.').waitFor();
  const second = agent.call('bare__echo', { text: 'the second' });
  await cards(page).nth(1).getByText('the second').waitFor();
  await cards(page).nth(1).scrollIntoViewIfNeeded();
  await cards(page).nth(1).locator('.primary:enabled').waitFor();
  // It came later and is short: what keeps the first one off is not that it is new.
  expect(await approve(page).first().isDisabled()).toBe(true);
  await page
    .getByRole('region', { name: 'Arguments, whole' })
    .first()
    .evaluate((box) => box.scrollTo(0, box.scrollHeight));
  await cards(page).first().locator('.primary:enabled').waitFor();
  // The second click is there before the first one is answered.
  await page.evaluate(() => {
    for (const button of document.querySelectorAll<HTMLButtonElement>('.decide .danger')) button.click();
  });
  expect((await first).result?.content?.[0]?.text).toContain('refused');
  const { proposals } = (await api(running).get('/api/proposals')).body;
  expect(proposals).toHaveLength(1);
  await page.locator('.decide .danger:enabled').click();
  await second;
});

test('hidden characters are marked and counted, and nothing is cut', async () => {
  const page = await open(browser(), running, '/approvals');
  const call = agent.call('bare__echo', { text: `rm -rf build\u200B/ \u202Egpj ${'x'.repeat(5000)}END` });
  const card = cards(page).last();
  await card.getByText('2 of them are invisible and marked').waitFor();
  await card.getByText('U+202E').waitFor();
  await card.getByText(/x{5000}END/).waitFor();
  await page.getByRole('textbox', { name: 'Note to the agent' }).fill('not in this folder');
  await card.getByRole('button', { name: /^Deny/ }).click();
  expect(textOf(await call)).toContain('not in this folder');
});

test('an approval that is saved lets through what its text says, and not one argument more', async () => {
  const page = await open(browser(), running, '/approvals');
  const first = agent.call('bare__echo', { text: 'again and again' });
  await cards(page).getByText('again and again').waitFor();
  await page.getByRole('combobox').selectOption('arguments');
  await page.getByText('saves: allow echo with exactly these arguments, in this session').waitFor();
  await approve(page).click();
  await first;
  expect(textOf(await agent.call('bare__echo', { text: 'again and again' }))).toBe('again and again');
  const other = agent.call('bare__echo', { text: 'again and again', more: 1 });
  await cards(page).getByText('more').waitFor();
  await page.locator('.decide .danger:enabled').click();
  expect(textOf(await other)).toContain('refused');
});

test('edited arguments are checked, read through again, and sent in the place of the others', async () => {
  const page = await open(browser(), running, '/approvals');
  const call = agent.call('bare__echo', { text: 'as proposed', password: 'hunter-2-hunter' });
  await cards(page).getByText('as proposed').waitFor();
  await page.getByRole('button', { name: 'Edit arguments…', disabled: false }).click();
  const dialog = page.getByRole('dialog', { name: /Arguments of bare · echo/ });
  const field = dialog.getByRole('textbox');
  const done = dialog.getByRole('button', { name: 'Put in their place' });
  const proposed = await field.inputValue();
  expect(proposed).not.toContain('hunter-2-hunter');
  await field.fill('{"text": 1}');
  await dialog
    .getByRole('alert')
    .getByText(/text: /)
    .waitFor();
  expect(await done.isDisabled()).toBe(true);
  await field.fill(proposed.replace('as proposed', 'as edited'));
  await done.click();
  await cards(page).getByText('Edited by you').waitFor();
  await cards(page).getByText('as edited').waitFor();
  await shot(page, 'approval-edited');
  await approve(page).click();
  expect(textOf(await call)).toBe('as edited');
  await page.getByRole('tab', { name: 'Decided' }).click();
  await page.getByRole('cell', { name: 'approved' }).first().waitFor();
});

test('by keys alone: read, tab to the answer, give it; Esc decides nothing', async () => {
  const page = await open(browser(), running, '/approvals');
  const call = agent.call('bare__echo', { text: 'by keyboard' });
  await page.locator('.decide .primary:enabled').waitFor();
  await page.keyboard.press('Escape');
  for (let n = 0; n < 60; n++) {
    await page.keyboard.press('Tab');
    if ((await page.evaluate(() => document.activeElement?.textContent)) === 'Approve once') break;
  }
  await page.keyboard.press('Enter');
  expect(textOf(await call)).toBe('by keyboard');
});

test('a question of an agent is answered with words', async () => {
  const page = await open(browser(), running, '/approvals');
  const call = agent.call('human_feedback', { question: 'Which repository?', options: ['web', 'api'] });
  await cards(page).getByText('Which repository?').waitFor();
  await page.getByRole('button', { name: 'api', disabled: false }).click();
  expect(textOf(await call)).toBe('api');
});
