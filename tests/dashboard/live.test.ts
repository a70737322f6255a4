import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { verifies } from '../requirements.js';
import { api } from '../support/api.js';
import { bareServer, type RunningOrchestrator, startOrchestrator } from '../support/orchestrator.js';
import { eventually, fixture } from '../support/processes.js';
import { featuresServer } from '../support/road.js';
import { Trace } from '../support/trace.js';
import { type Agent, flow, startAgent } from './support/agent.js';
import { useBrowser } from './support/browser.js';
import { comeIn, open, openSockets, shot, visit } from './support/visit.js';

const browser = useBrowser();
let running: RunningOrchestrator;
let agent: Agent;
let trace: Trace;

beforeAll(async () => {
  trace = await Trace.make();
  running = await startOrchestrator({
    servers: {
      bare: bareServer,
      features: featuresServer({ TRACE_FILE: trace.file }),
      page: { command: process.execPath, args: [fixture('page-server.mjs')] },
    },
  });
  agent = await startAgent(running, 'web-app');
  await agent.call('bare__echo', { text: 'first' });
});
afterAll(() => running.stop());

const rows = (page: Page) => page.locator('.scroller [data-place]');
const top = (page: Page) => rows(page).first();
const panel = (page: Page) => page.getByRole('complementary', { name: 'Call' });
/** Where each row on screen is, by what it says. */
const places = (page: Page) =>
  rows(page).evaluateAll((all) =>
    all.map((row) => [row.textContent, Math.round(row.getBoundingClientRect().top)] as const),
  );
/** The pointer away from the list, and nothing selected: it follows. */
const letGo = async (page: Page) => {
  await page.mouse.move(5, 5);
  await page.keyboard.press('t');
};

/** A headless browser's tabs are all in front; the page asks `document.hidden`. */
const hide = (page: Page, isHidden: boolean) =>
  page.evaluate((value) => {
    Object.defineProperty(document, 'hidden', { configurable: true, get: () => value });
    document.dispatchEvent(new Event('visibilitychange'));
  }, isHidden);
const callsRest = (page: Page) =>
  eventually('the stream of calls rests', async () =>
    openSockets(page).every((url) => new URL(url).searchParams.get('types') !== 'call'),
  );
/** So many calls, as fast as they go. */
async function many(count: number): Promise<void> {
  let left = count;
  const headers = { authorization: `Bearer ${running.token}`, 'content-type': 'application/json' };
  const worker = async () => {
    while (left-- > 0)
      await (
        await fetch(`${running.url}/tools/mcp/bare/echo`, {
          method: 'POST',
          headers,
          body: '{"text":"one of many"}',
        })
      ).text();
  };
  await Promise.all(Array.from({ length: 32 }, worker));
}

describe('calls as they happen', () => {
  verifies('dashboard.live', async () => {
    const page = await open(browser(), running);
    await rows(page).first().waitFor();
    const call = agent.call('bare__slow', { ms: 600 });
    // At once with the row: it does not run for long.
    const place = await page
      .waitForFunction(() => document.querySelector('[data-place].running')?.getAttribute('data-place'))
      .then((found) => found.jsonValue());
    await call;
    await page.locator(`[data-place="${place}"].ok`).waitFor();
    expect(await top(page).getAttribute('data-place')).toBe(place);
    // Looked at from within the page, so that only its own road is measured.
    const waits: number[] = [];
    for (let n = 0; n < 8; n++) {
      const seen = page.evaluate(
        (words) =>
          new Promise<number>((done) => {
            const look = () =>
              document.querySelector('.scroller')?.textContent?.includes(words)
                ? done(Date.now())
                : requestAnimationFrame(look);
            look();
          }),
        `quick ${n}`,
      );
      const begun = Date.now();
      await agent.call('bare__echo', { text: `quick ${n}` });
      waits.push((await seen) - begun);
    }
    expect(Math.min(...waits)).toBeLessThan(200);
    await shot(page, 'live');
  });

  verifies('dashboard.held', async () => {
    for (let n = 0; n < 150; n++) await agent.call('bare__echo', { text: `old ${n}` });
    const page = await open(browser(), running);
    await rows(page).first().waitFor();
    await page.locator('.scroller').evaluate((list) => list.scrollTo(0, 50 * 28));
    await page.mouse.move(5, 5);
    let before = await places(page);
    await eventually('it has scrolled and settled', async () => {
      const [last, now] = [before, await places(page)];
      before = now;
      const isAway = await page.locator('.scroller').evaluate((list) => list.scrollTop > 0);
      return (
        isAway &&
        JSON.stringify(now) === JSON.stringify(last) &&
        !now.some(([text]) => text?.includes('old 149'))
      );
    });
    const stop = flow(agent, 200);
    const pill = page.locator('.pill');
    // Five seconds' worth.
    await pill.getByText(/[1-9],\d\d\d new/).waitFor();
    expect(await places(page)).toEqual(before);
    await stop();
    expect(await pill.textContent()).toContain('held: scrolled');
    await page.keyboard.press('t');
    await pill.waitFor({ state: 'detached' });
    expect(await page.locator('.scroller').evaluate((list) => list.scrollTop)).toBe(0);
  });

  test('a row under the pointer is the call that a click opens, however fast calls come', async () => {
    const page = await open(browser(), running);
    await rows(page).first().waitFor();
    const stop = flow(agent, 200);
    for (let n = 0; n < 50; n++) {
      await letGo(page);
      const y = 200 + (n % 20) * 28;
      await page.mouse.move(600, y);
      const under = await page.evaluate(
        (at) => document.elementFromPoint(600, at)?.closest('[data-place]')?.getAttribute('data-place'),
        y,
      );
      await page.mouse.down();
      await page.mouse.up();
      await page.locator('[data-place].open').waitFor();
      expect(await page.locator('[data-place].open').getAttribute('data-place')).toBe(under);
      await page.keyboard.press('Escape');
      await panel(page).waitFor({ state: 'detached' });
    }
    await stop();
  });

  test('the row under the cursor stays on screen and the same call, by J, PageDown, End and Home, while calls come', async () => {
    const page = await open(browser(), running);
    await rows(page).first().waitFor();
    const stop = flow(agent, 100);
    for (let n = 0; n < 50; n++) await page.keyboard.press('j');
    const active = page.locator('[data-place].active');
    const place = await active.getAttribute('data-place');
    const grid = page.locator('[role=grid]');
    expect(await grid.getAttribute('aria-activedescendant')).toBe(`call-${place}`);
    for (const key of ['PageDown', 'End', 'Home']) {
      await page.keyboard.press(key);
      await eventually('the row is on screen', async () => {
        const box = await active.boundingBox();
        return box !== null && box.y > 100 && box.y < 900;
      });
    }
    await stop();
  });
});

describe('the rows', () => {
  test('five or more alike in a row fold into one that counts in place, where that is wished', async () => {
    await agent.call('bare__slow', { ms: 0 });
    for (let n = 0; n < 6; n++) await agent.call('bare__echo', { text: `alike ${n}` });
    await agent.call('bare__slow', { ms: 1 });
    const page = await open(browser(), running);
    await rows(page).first().waitFor();
    await eventually('the latest are on top, each for itself', async () =>
      (await rows(page).nth(1).textContent())?.includes('alike 5'),
    );
    await page.getByRole('button', { name: 'Rows' }).click();
    await page.getByRole('menuitem', { name: 'Fold alike rows' }).click();
    await rows(page).nth(1).getByText('bare · echo ×6').waitFor();
    expect(await rows(page).nth(2).textContent()).toContain('bare · slow');
    await letGo(page);
    for (let n = 0; n < 5; n++) await agent.call('bare__echo', { text: `more ${n}` });
    await top(page).getByText('bare · echo ×5').waitFor();
    await agent.call('bare__echo', { text: 'one more' });
    await top(page).getByText('bare · echo ×6').waitFor();
    await shot(page, 'folded');
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await panel(page).getByText('alike 5').first().waitFor();
  });

  test('columns are chosen, and the address has them', async () => {
    const page = await open(browser(), running);
    await rows(page).first().waitFor();
    await page.getByRole('button', { name: 'Columns' }).click();
    await page.getByRole('menuitem', { name: 'Session' }).click();
    await page.waitForURL(/cols=time,tool,args,duration,size/);
    const head = page.locator('.r.head');
    await head.getByText('Session').waitFor({ state: 'hidden' });
    const other = await open(browser(), running, page.url().slice(running.url.length));
    await rows(other).first().waitFor();
    expect(await other.locator('.r.head').getByText('Session').isVisible()).toBe(false);
    expect(await other.locator('.r.head').getByText('Arguments').isVisible()).toBe(true);
  });
});

describe('filters and links', () => {
  test('a typed filter, opened as a link elsewhere, gives the same rows and the count of the API', async () => {
    for (let n = 0; n < 3; n++) await agent.call('features__fail', { text: `reason ${n}` });
    const context = await comeIn(browser(), running);
    const page = await visit(context, running, '/');
    await page.keyboard.press('/');
    await page.keyboard.type('server:features status:failed');
    await page.waitForURL(/q=server:features\+status:failed/);
    await page.locator('.chip').nth(1).waitFor();
    await eventually('only these are shown', async () => (await rows(page).count()) === 3);
    const other = await visit(context, running, page.url().slice(running.url.length));
    await eventually('the same rows', async () => (await rows(other).count()) === 3);
    const texts = (at: Page) => rows(at).evaluateAll((all) => all.map((row) => row.textContent));
    expect(await texts(other)).toEqual(await texts(page));
    const { body } = await api(running)
      .get('/api/calls')
      .query({ q: 'server:features status:failed', counts: 'status' });
    // The counts of the filter before stay until those of this one are there.
    await eventually(
      'the count is that of the API',
      async () => (await page.locator('.counts .tone-failed strong').textContent()) === String(body.total),
    );
  });

  test('what cannot be read is said where it stands, and nothing found tells which piece to drop', async () => {
    const page = await open(browser(), running, '/?q=tool:echo+status:sleepy');
    await page.getByRole('alert').getByText('There is no status "sleepy"').waitFor();
    await rows(page).first().waitFor();
    await page.goto(`${running.url}/?q=server:bare+tool:nothing_like_it`);
    await page.getByRole('heading', { name: 'No call fits' }).waitFor();
    await page
      .getByText(/would show [1-9]/)
      .first()
      .waitFor();
    await page.getByRole('button', { name: 'Drop tool:nothing_like_it' }).click();
    await rows(page).first().waitFor();
  });

  test('Back after opening a call returns to the same place, selection and filter', async () => {
    const page = await open(browser(), running, '/?q=tool:echo');
    await rows(page).first().waitFor();
    await page.locator('.scroller').evaluate((list) => list.scrollTo(0, 40 * 28));
    await page.mouse.move(600, 400);
    await page.mouse.down();
    await page.mouse.up();
    await panel(page).waitFor();
    const scrolled = () => page.locator('.scroller').evaluate((list) => list.scrollTop);
    const before = await scrolled();
    await panel(page).getByRole('link', { name: 'Open' }).click();
    await page.waitForURL(/\/calls\//);
    await page.goBack();
    await page.locator('[data-place].open').waitFor();
    expect(await scrolled()).toBe(before);
    expect(page.url()).toContain('q=tool:echo');
    await page.goBack();
    await panel(page).waitFor({ state: 'detached' });
    expect(await scrolled()).toBe(before);
  });
});

describe('one call', () => {
  verifies('dashboard.two-clicks', async () => {
    await agent.call('page__hostile', {});
    const page = await open(browser(), running, '/?q=tool:hostile');
    await top(page).click();
    await panel(page).getByText('TOOL_FAILED').waitFor();
    const first = await page.locator('[data-place].open').getAttribute('data-place');
    await panel(page).getByRole('button', { name: 'Replay', exact: true }).click();
    await panel(page).getByText('This is a replay of an earlier call.').waitFor();
    await panel(page)
      .getByRole('heading', { name: /^Result/ })
      .waitFor();
    expect(await page.locator('[data-place].open').getAttribute('data-place')).not.toBe(first);
  });

  test('the same by keys alone', async () => {
    await agent.call('page__hostile', {});
    const page = await open(browser(), running, '/?q=tool:hostile');
    await rows(page).first().waitFor();
    await page.keyboard.press('e');
    await page.keyboard.press('Enter');
    await panel(page).getByText('TOOL_FAILED').waitFor();
    const before = page.url();
    await page.locator('.actions button:enabled').first().waitFor();
    // The page may still be learning of the tool when its buttons are there.
    await eventually('the replay is open', async () => {
      await page.keyboard.press('r');
      return page.url() !== before;
    });
    await panel(page).getByText('This is a replay of an earlier call.').waitFor();
  });

  test('a replay with other arguments is refused by the schema before it is sent, and the difference is exact', async () => {
    await agent.call('page__count', { n: 2, who: 'me' });
    const page = await open(browser(), running, '/?q=tool:count');
    await top(page).click();
    await panel(page).getByRole('button', { name: 'Edit and replay…' }).click();
    const dialog = page.getByRole('dialog');
    const field = dialog.getByRole('textbox');
    const run = dialog.getByRole('button', { name: 'Run' });
    await field.fill('{"n": 12, "who": "me"}');
    await dialog.getByRole('alert').getByText(/n: /).waitFor();
    expect(await run.isDisabled()).toBe(true);
    await field.fill('{"n": 3, "who": "me"}');
    await run.click();
    await panel(page).getByRole('button', { name: 'See the difference' }).click();
    const paths = (name: string) =>
      panel(page)
        .getByRole('region', { name })
        .locator('[data-path]')
        .evaluateAll((all) => all.map((each) => each.getAttribute('data-path')));
    await panel(page).getByRole('region', { name: 'Result' }).getByText('2 paths differ').waitFor();
    expect(await paths('Arguments')).toEqual(['/n']);
    expect(await paths('Result')).toEqual(['/structuredContent/n', '/structuredContent/square']);
  });

  test('a running call is cancelled upstream, and its row says so within a second', async () => {
    const page = await open(browser(), running, '/?q=tool:hang');
    const took: number[] = [];
    for (let time = 1; time <= 3; time++) {
      const call = agent.call('features__hang');
      await page.locator('[data-place].running').click();
      await panel(page)
        .getByText(/No result yet, running/)
        .waitFor();
      // Looked at from within the page, so that only its own road is measured.
      took.push(
        await panel(page)
          .getByRole('button', { name: 'Cancel' })
          .evaluate(async (button) => {
            const begun = performance.now();
            (button as HTMLElement).click();
            while (!document.querySelector('[data-place].open.cancelled'))
              await new Promise((next) => requestAnimationFrame(next));
            return performance.now() - begun;
          }),
      );
      await trace.saw('cancelled ', time);
      await call;
      await page.keyboard.press('Escape');
      await letGo(page);
    }
    expect(Math.min(...took)).toBeLessThan(1000);
  });

  test('structured content alone, no content, and an image are three different things', async () => {
    for (const tool of ['structured', 'nothing', 'picture']) await agent.call(`page__${tool}`);
    const page = await open(browser(), running, '/?q=tool:structured');
    await top(page).click();
    await panel(page).getByText('Structured content only.').waitFor();
    await panel(page).getByText('"north"').waitFor();
    await page.goto(`${running.url}/?q=tool:nothing`);
    await top(page).click();
    await panel(page).getByText('No content.').waitFor();
    await page.goto(`${running.url}/?q=tool:picture`);
    await top(page).click();
    const picture = panel(page).getByRole('img', { name: /image\/png/ });
    await picture.waitFor();
    expect(await picture.getAttribute('src')).toMatch(/^blob:/);
    expect(await panel(page).locator('img').count()).toBe(1);
  });

  test('a result of ten megabytes waits to be loaded, opens as a tree of few elements, and can be searched', async () => {
    await agent.call('page__json', { megabytes: 10 });
    const page = await open(browser(), running, '/?q=tool:json');
    await top(page).click();
    await panel(page)
      .getByRole('button', { name: /^Load .*MB/ })
      .click();
    const tree = panel(page).getByRole('tree').last();
    await tree.getByText('"found me"').waitFor();
    const find = panel(page).getByLabel('Find in text, which is json');
    await find.fill('row 99999');
    await panel(page).getByText('1 of 1 found').waitFor();
    await tree.getByText('"row 99999"').waitFor();
    await find.fill('row 1234');
    await panel(page).getByText('1 of 11 found').waitFor();
    await tree.getByText('"row 1234"', { exact: true }).waitFor();
    await panel(page).getByRole('button', { name: 'Next' }).click();
    await tree.getByText('"row 12340"').waitFor();
    expect(await page.locator('*').count()).toBeLessThan(2500);
    await shot(page, 'large-result');
  });

  verifies('dashboard.inert', async () => {
    await agent.call('page__hostile', { '<b>key</b>\u202E': '\u001b[2Jvalue\u200B' });
    const page = await open(browser(), running, '/?q=tool:hostile');
    await top(page).click();
    await panel(page).getByText('<script>alert(2)</script>').first().waitFor();
    await panel(page).getByText('U+202E').first().waitFor();
    expect(await page.locator('main img, main script, main style').count()).toBe(0);
    await page.goto(`${running.url}/tools?tool=page__hostile`);
    await page.getByRole('complementary').getByText('U+202E').first().waitFor();
    expect(await page.locator('main img[src], main script, main style').count()).toBe(0);
    const shown = (await page.locator('body').textContent()) ?? '';
    for (const hidden of ['\u202E', '\u200B', '\u001b']) expect(shown).not.toContain(hidden);
  });
});

describe('the connection', () => {
  test('a hidden tab is sent no calls, says what waits for a yes, and has every call once when it is looked at', async () => {
    await api(running)
      .post('/api/sessions')
      .send({ id: 'guarded', tools: { approve: ['bare__*'] } });
    const guarded = await startAgent(running, 'guarded');
    const context = await comeIn(browser(), running);
    const page = await visit(context, running, '/?q=-status:waiting');
    await rows(page).first().waitFor();
    await hide(page, true);
    await callsRest(page);
    for (let n = 0; n < 300; n++) await agent.call('bare__echo', { text: `unseen ${n}` });
    const asked = guarded.call('bare__echo', { text: 'may I' });
    await page.waitForFunction(() => document.title.startsWith('(1)'));
    expect(await rows(page).first().textContent()).not.toContain('unseen');
    const { proposals } = (await api(running).get('/api/proposals')).body;
    await api(running).post(`/api/proposals/${proposals[0].id}`).send({ accept: false });
    await asked;
    await hide(page, false);
    await page.getByText('unseen 299').waitFor();
    const seen = new Set<string>();
    await eventually('scrolling leads through all of them', async () => {
      for (const text of await rows(page).allTextContents()) {
        const number = /unseen (\d+)/.exec(text)?.[1];
        if (number !== undefined) seen.add(number);
      }
      await page.locator('.scroller').evaluate((list) => list.scrollBy(0, 600));
      return seen.size === 300;
    });
  });

  test('a call that ended out of the filter while nobody looked does not run on', async () => {
    const page = await open(browser(), running, '/?q=status:running');
    const call = agent.call('bare__slow', { ms: 5000 });
    await page.locator('[data-place].running').waitFor();
    await hide(page, true);
    await callsRest(page);
    await call;
    await hide(page, false);
    await page.locator('[data-place].ok').waitFor();
  });

  test('far behind, the latest calls are there first; the others are counted and loaded when asked for', async () => {
    const page = await open(browser(), running, '/');
    await rows(page).first().waitFor();
    await hide(page, true);
    await callsRest(page);
    const before = (await api(running).get('/api/calls').query({ counts: 'status' })).body.total;
    await many(22_000);
    await agent.call('bare__echo', { text: 'the latest of many' });
    const { body } = await api(running).get('/api/calls').query({ counts: 'status' });
    await hide(page, false);
    await top(page).getByText('the latest of many').waitFor();
    const note = page.getByRole('status').filter({ hasText: 'not shown' });
    await note.waitFor();
    const shown = Number(((await note.textContent()) ?? '').replace(/[^\d]/g, ''));
    // Calls of one millisecond stand on either side of the gap.
    expect(Math.abs(body.total - before - 2000 - shown)).toBeLessThan(100);
    await note.getByRole('button', { name: 'Load them' }).click();
    await note.waitFor({ state: 'detached' });
    await top(page).getByText('the latest of many').waitFor();
  });

  test('twelve tabs of one browser all load and follow', async () => {
    const context = await comeIn(browser(), running);
    const tabs = await Promise.all(Array.from({ length: 12 }, () => visit(context, running, '/')));
    await Promise.all(tabs.map((tab) => rows(tab).first().waitFor()));
    await agent.call('bare__echo', { text: 'for all tabs' });
    await Promise.all(tabs.map((tab) => tab.getByText('for all tabs').first().waitFor()));
  });
});
