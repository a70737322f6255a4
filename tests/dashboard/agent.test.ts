import { beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { verifies } from '../requirements.js';
import { type Json, useAgentHouse } from '../support/agent.js';
import { brainOf, type ModelAnswer, type ModelQuestion } from '../support/model-api.js';
import { ended } from '../support/processes.js';
import { findings } from './support/axe.js';
import { useBrowser } from './support/browser.js';
import { allowProblems, comeIn, open, shot, visit } from './support/visit.js';

const browser = useBrowser();
const { house, model } = useAgentHouse((server) => brainOf('anthropic', server));
beforeAll(() => house.writeMission('careful', '---\napprove: ["ledger__wipe"]\n---\nWipe.'));

const use = (tool: string, args: object = {}) => ({ tool: `ledger__${tool}`, args });
/** Wipes what the newest question names, then says what came of it. */
const wipes = ({ all, results }: ModelQuestion): ModelAnswer => {
  const what = /Wipe (\w+)/.exec(all)?.[1];
  return results.length === 0 ? { calls: [use('wipe', { what })] } : { text: `Result: ${results.at(-1)}` };
};
const wiped = () => house.ledger.filter((line) => line.startsWith('wipe'));

const conversation = (page: Page) => page.getByRole('complementary', { name: 'Conversation' });
const answer = (page: Page, words: string | RegExp) => conversation(page).locator('.answer').getByText(words);

async function ask(page: Page, question: string, mission?: string): Promise<void> {
  await page.getByRole('button', { name: 'Ask the agent…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Ask the agent' });
  await dialog.getByRole('textbox', { name: 'Question' }).fill(question);
  if (mission) await dialog.getByRole('combobox', { name: 'Mission' }).selectOption(mission);
  await dialog.getByRole('button', { name: /^Ask/ }).click();
  await dialog.waitFor({ state: 'detached' });
}

verifies('dashboard.agent', async () => {
  let goOn = () => {};
  const seen = new Promise<void>((resolve) => (goOn = resolve));
  model.answer = async ({ results, body }) => {
    if (/green/.test(JSON.stringify(body.messages.at(-1)))) return { text: `known: ${results.join()}` };
    if (results.length === 0)
      return { thinking: 'First things first.', text: 'I begin.', calls: [use('step_1'), use('fail')] };
    await seen;
    return { text: 'All is done.' };
  };
  const page = await open(browser(), house.running, '/runs');
  const many = async () => (await house.send('GET', '/api/agent/conversations')).conversations.length;
  const before = await many();
  await ask(page, 'Compare red and blue, both.');
  const thread = conversation(page);
  // While the model still thinks: what it thought and said, each call with its outcome and time.
  await thread.getByText('First things first.').waitFor();
  await thread.getByText('I begin.').waitFor();
  const calls = thread.locator('.step.call');
  await calls.getByRole('img', { name: 'ok' }).waitFor();
  await calls.getByRole('img', { name: 'failed' }).waitFor();
  await calls
    .first()
    .getByText(/^[\d.]+.m?s$/)
    .waitFor();
  await thread.locator('.run-head').getByText('running').waitFor();
  await shot(page, 'run-live');
  goOn();
  await answer(page, 'All is done.').waitFor();
  await thread
    .locator('.run-head')
    .getByText(/parallel.*anthropic:fake.*70 tokens/)
    .waitFor();
  await page.getByRole('row', { name: /done.*Compare red/ }).waitFor();
  await calls.first().locator('summary').click();
  await thread.getByRole('region', { name: 'Result' }).getByText('step_1 is done').waitFor();

  // On from a step in its middle, which knows the first call and not the answer.
  await calls.first().getByRole('button', { name: 'Branch after this step' }).click();
  await thread.getByRole('textbox', { name: 'Ask on a branch' }).fill('And green?');
  await page.keyboard.press('Control+Enter');
  await answer(page, /known: step_1 is done/).waitFor();
  expect(await answer(page, 'All is done.').count()).toBe(0);
  // The same screen for whoever gets the link; the run is replayed from what was kept.
  const other = await visit(page.context(), house.running, new URL(page.url()).pathname);
  await answer(other, /known:/).waitFor();
  await conversation(other).getByText('First things first.').waitFor();
  await conversation(other).getByRole('button', { name: 'Run again…' }).last().click();
  const again = other.getByRole('dialog', { name: 'Run it again' });
  expect(await again.getByRole('textbox', { name: 'Question' }).inputValue()).toBe('And green?');
  await again.getByRole('button', { name: /^Ask/ }).click();
  await conversation(other).getByText('goes on otherwise').waitFor();
  expect(await many()).toBe(before + 1);
});

verifies('dashboard.proposals', async () => {
  model.answer = wipes;
  const before = wiped().length;
  const page = await open(browser(), house.running, '/runs');
  const watcher = await open(browser(), house.running, '/approvals');
  await ask(page, 'Wipe one.', 'careful');
  const second = await house.begin('Wipe two.', { mission: 'careful' });
  // One queue: in the run's own place, among the approvals of another browser, and for curl.
  const card = conversation(page).getByRole('article', { name: 'ledger wipe' });
  await card.getByText('one').first().waitFor();
  for (const what of ['one', 'two']) await watcher.getByRole('article').getByText(what).first().waitFor();
  const queue: Json[] = (await house.send('GET', '/api/proposals')).proposals;
  expect(queue.map(({ arguments: args }) => args)).toEqual([{ what: 'one' }, { what: 'two' }]);
  await shot(page, 'run-waits');

  await card.getByRole('button', { name: 'Edit arguments…' }).click();
  const editor = page.getByRole('dialog', { name: /Arguments of ledger · wipe/ });
  await editor.getByRole('textbox').fill('{"what":"less"}');
  await editor.getByRole('button', { name: 'Put in their place' }).click();
  await card.getByRole('textbox', { name: /^Note/ }).fill('only that');
  await card.locator('.primary:enabled').click();
  await answer(page, /Result: wiped less/).waitFor();
  await answer(page, /says: only that/).waitFor();
  await watcher.getByText(/approved by owner/).waitFor();

  await house.send('POST', `/api/proposals/${queue[1].id}`, { accept: false, note: 'not today' });
  await watcher.getByText(/denied by owner/).waitFor();
  await page
    .getByRole('row', { name: /done.*Wipe two/ })
    .getByRole('link')
    .click();
  await answer(page, /refused .*: not today/).waitFor();
  expect((await house.run(second.run_id)).state).toBe('done');
  expect(wiped().slice(before)).toEqual(['wipe {"what":"less"}']);

  // Who is silent denies; of a time that the test can wait for.
  await page.context().close();
  await watcher.context().close();
  house.running.process.kill('SIGTERM');
  await ended(house.running.process);
  await house.again({ APPROVAL_TIMEOUT: '3s' });
  const late = await open(browser(), house.running, '/runs');
  const looking = await open(browser(), house.running, '/approvals');
  await ask(late, 'Wipe three.', 'careful');
  await looking.getByRole('article').getByText('three').first().waitFor();
  await looking.getByText(/expired without an answer/).waitFor();
  await answer(late, /Nobody approved the call/).waitFor();
  expect((await house.send('GET', '/api/proposals')).proposals).toEqual([]);
  expect(wiped().length).toBe(before + 1);
  await late.context().close();
  await looking.context().close();
  await house.running.stop(true);
  await house.again();
});

test('a run is cancelled in the middle of a call, and says so', async () => {
  model.answer = () => ({ calls: [use('step_2', { ms: 60_000 })] });
  const page = await open(browser(), house.running, '/runs');
  await ask(page, 'Take long.');
  await conversation(page).locator('.step.call').getByRole('img', { name: 'running' }).waitFor();
  await conversation(page).getByRole('button', { name: 'Cancel' }).click();
  await conversation(page).getByText('The run was cancelled.').waitFor();
  await conversation(page).locator('.run-head').getByText('cancelled').waitFor();
});

test('by keys alone: ask, read the answer, ask more, close', async () => {
  model.answer = ({ all }) => ({ text: /more/.test(all) ? 'The second.' : 'The first.' });
  const page = await open(browser(), house.running, '/');
  await page.keyboard.press('g');
  await page.keyboard.press('r');
  await page.getByRole('heading', { name: 'Agent runs', level: 1 }).waitFor();
  await page.keyboard.press('n');
  await page.getByRole('dialog').waitFor();
  await page.keyboard.type('By keys.');
  await page.keyboard.press('Control+Enter');
  await answer(page, 'The first.').waitFor();
  const more = conversation(page).getByRole('textbox', { name: 'Ask more' });
  for (let n = 0; n < 80 && !(await more.evaluate((field) => field === document.activeElement)); n++)
    await page.keyboard.press('Tab');
  await page.keyboard.type('Say more.');
  await page.keyboard.press('Control+Enter');
  await answer(page, 'The second.').waitFor();
  // Whoever goes on with it elsewhere is seen here.
  const [{ conversation_id: id }] = (await house.send('GET', '/api/agent/conversations?limit=1'))
    .conversations;
  await house.begin('From elsewhere, once more.', { conversation_id: id });
  await conversation(page).getByText('From elsewhere, once more.').waitFor();
  await page.locator('main').focus();
  await page.keyboard.press('Escape');
  await conversation(page).waitFor({ state: 'detached' });
});

test('what fails is told in place: a question that cannot be asked, a model that refuses', async () => {
  // The browser itself writes of an answer with 400.
  allowProblems(/status of 400/);
  model.answer = () => ({ fails: { status: 401 } });
  const page = await open(browser(), house.running, '/runs');
  await page.getByRole('button', { name: 'Ask the agent…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox', { name: 'Question' }).fill('Cheaply.');
  await dialog.getByText('Tools and limits').click();
  await dialog.getByRole('textbox', { name: 'Cost in dollars' }).fill('1');
  await page.keyboard.press('Enter');
  await dialog.getByRole('alert').getByText('needs the prices of "anthropic:fake"').waitFor();
  await dialog.getByRole('textbox', { name: 'Cost in dollars' }).fill('');
  await dialog.getByRole('button', { name: /^Ask/ }).click();
  await conversation(page).getByText('The brain "anthropic:fake" refused the key').waitFor();
});

test.each(['light', 'dark'] as const)(
  '%s: axe finds nothing in a run, in a dialog, on a phone',
  async (colorScheme) => {
    model.answer = wipes;
    const { run_id: id, conversation_id: at } = await house.begin('Wipe all.', { mission: 'careful' });
    expect((await house.watch(id)).end.state).toBe('waiting');
    const context = await comeIn(browser(), house.running, { colorScheme });
    const page = await visit(context, house.running, `/runs/${at}`);
    const card = conversation(page).getByRole('article');
    await card.locator('.primary:enabled').waitFor();
    const found: Record<string, string[]> = { waiting: await findings(page) };
    await shot(page, `run-${colorScheme}`);
    await card.getByRole('button', { name: 'Edit arguments…' }).click();
    await page.getByRole('dialog', { name: /^Arguments of/ }).waitFor();
    found.edited = await findings(page);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Ask the agent…' }).click();
    await page.getByRole('dialog').getByText('Tools and limits').click();
    found.dialog = await findings(page);
    await shot(page, `run-dialog-${colorScheme}`);
    await page.keyboard.press('Escape');
    await page.setViewportSize({ width: 320, height: 640 });
    await shot(page, `run-phone-${colorScheme}`);
    found.phone = await findings(page);
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    await house.send('POST', `/api/agent/runs/${id}/cancel`);
    expect({ found, width }).toEqual({
      found: { waiting: [], edited: [], dialog: [], phone: [] },
      width: 320,
    });
  },
);
