import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { bareServer, type RunningOrchestrator, startOrchestrator } from '../support/orchestrator.js';
import { eventually } from '../support/processes.js';
import { type Agent, startAgent } from './support/agent.js';
import { useBrowser } from './support/browser.js';
import { Cable } from './support/cable.js';
import { allowProblems, open, shot } from './support/visit.js';

const browser = useBrowser();
/** As the page's checklist has it; calls go on meanwhile. A file of its own, so that the others go on meanwhile too. */
const CUT_MS = 30_000;
let running: RunningOrchestrator;
let agent: Agent;
let cable: Cable;

beforeAll(async () => {
  running = await startOrchestrator({ servers: { bare: bareServer } });
  cable = await Cable.to(running.port);
  agent = await startAgent(running, 'web-app');
  for (let n = 0; n < 12; n++) await agent.call('bare__echo', { text: `before ${n}` });
});
afterAll(async () => {
  cable.close();
  await running.stop();
});

const rows = (page: Page) => page.locator('.scroller [data-place]');

test('cut off for 30 s, old rows stay and a bar says so; then all missed calls are there, in order, once', async () => {
  allowProblems(/ERR_|WebSocket/);
  const page = await open(browser(), { ...running, url: `http://127.0.0.1:${cable.port}` }, '/?q=tool:echo');
  await page.getByText('before 11').waitFor();
  const before = await rows(page).allTextContents();
  expect(before).toHaveLength(12);
  cable.pull();
  const until = Date.now() + CUT_MS;
  const bar = page.getByRole('alert').filter({ hasText: 'Not connected since' });
  await bar.waitFor();
  let missed = 0;
  for (; Date.now() < until; missed++) {
    await agent.call('bare__echo', { text: `missed ${missed}` });
    await agent.call('bare__slow', { ms: 100 });
  }
  expect(missed).toBeGreaterThan(20);
  expect(await rows(page).allTextContents()).toEqual(before);
  await bar
    .getByText(/Not connected since \d\d:\d\d:\d\d \([3-9]\d(\.\d+)? s\): what is shown may be old/)
    .waitFor();
  await shot(page, 'not-connected');
  cable.plug();
  await agent.call('bare__echo', { text: 'after it' });
  await bar.waitFor({ state: 'detached' });
  await page.getByText('after it').waitFor();

  const found = new Map<number, string>();
  await eventually(
    'scrolling leads to the last row',
    async () => {
      for (const [place, text] of await placesAndTexts(page)) found.set(place, text);
      await page.locator('.scroller').evaluate((list) => list.scrollBy(0, 400));
      return [...found.values()].some((text) => text.includes('before 0'));
    },
    60_000,
  );
  const said = [...found].sort(([one], [other]) => other - one).map(([, text]) => text);
  expect(said.map((text) => /(before|missed) \d+|after it/.exec(text)?.[0])).toEqual([
    'after it',
    ...Array.from({ length: missed }, (_, n) => `missed ${missed - 1 - n}`),
    ...Array.from({ length: 12 }, (_, n) => `before ${11 - n}`),
  ]);
});

const placesAndTexts = (page: Page) =>
  rows(page).evaluateAll((all) =>
    all.map((row) => [Number(row.getAttribute('data-place')), row.textContent ?? ''] as const),
  );
