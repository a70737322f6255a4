import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { verifies } from '../requirements.js';
import { api } from '../support/api.js';
import { bareServer, type RunningOrchestrator, startOrchestrator } from '../support/orchestrator.js';
import { eventually, fixture } from '../support/processes.js';
import { featuresServer } from '../support/road.js';
import { type Agent, startAgent } from './support/agent.js';
import { findings } from './support/axe.js';
import { useBrowser } from './support/browser.js';
import { comeIn, open, shot, visit } from './support/visit.js';

const browser = useBrowser();
const canary = 'canary-5up3r-s3cr3t';
let full: RunningOrchestrator;
let empty: RunningOrchestrator;
let agent: Agent;

beforeAll(async () => {
  [full, empty] = await Promise.all([
    startOrchestrator({
      servers: {
        bare: { ...bareServer, env: { API_TOKEN: canary } },
        features: featuresServer({ SECRET: canary }),
        page: { command: process.execPath, args: [fixture('page-server.mjs')] },
        broken: { command: process.execPath, args: ['-e', 'process.exit(3)'] },
      },
    }),
    startOrchestrator({ servers: {} }),
  ]);
  await api(full)
    .post('/api/sessions')
    .send({ id: 'guarded', tools: { approve: ['bare__*'] }, env: { TOKEN: canary } });
  const guarded = await startAgent(full, 'guarded');
  void guarded.call('bare__echo', { text: 'waits', password: canary });
  agent = await startAgent(full, 'web-app');
  const { name } = (await api(full).post('/api/sessions/web-app/recording')).body;
  await agent.call('bare__echo', { text: 'hello', api_key: canary });
  await agent.call('features__fail');
  await agent.call('page__count', { n: 'many' });
  await agent.call('page__structured');
  const [{ id }] = (await api(full).get('/api/calls').query({ q: 'tool:fail' })).body.calls;
  for (const view of VIEWS) view[1] = view[1].replace('NAME', name).replace('CALL', id);
});
afterAll(() => Promise.all([full.stop(), empty.stop()]));

const VIEWS: [string, string][] = [
  ['live', '/'],
  ['group', '/?group=tool'],
  ['call', '/calls/CALL'],
  ['approvals', '/approvals'],
  ['decided', '/approvals?tab=decided'],
  ['servers', '/servers'],
  ['server', '/servers/bare'],
  ['config', '/servers/bare?tab=config'],
  ['output', '/servers/bare?tab=output'],
  ['sessions', '/sessions'],
  ['session', '/sessions/web-app?tab=tools'],
  ['policy', '/sessions/guarded?tab=policy'],
  ['recordings', '/recordings'],
  ['recording', '/recordings/NAME'],
  ['tools', '/tools'],
  ['tool', '/tools?tool=page__count'],
  ['statistics', '/stats'],
  ['runs', '/runs'],
  ['settings', '/settings'],
];

async function settled(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).first().waitFor({ state: 'attached' });
  await page.waitForFunction(() => !document.querySelector('.skeleton'));
}

describe.each(['light', 'dark'] as const)('%s', (colorScheme) => {
  verifies('dashboard.accessible', async () => {
    const context = await comeIn(browser(), full, { colorScheme });
    const page = await visit(context, full, '/');
    const found: Record<string, string[]> = {};
    for (const [name, path] of VIEWS) {
      await page.goto(`${full.url}${path}`);
      await settled(page);
      const faults = await findings(page);
      if (faults.length > 0) found[name] = faults;
      await shot(page, `${name}-${colorScheme}`);
    }
    expect(found).toEqual({});
  });

  test('axe finds nothing with a call open, in a dialog, and in each empty view', async () => {
    const page = await open(browser(), full, '/', { colorScheme });
    const found: Record<string, string[]> = {};
    const look = async (name: string) => {
      const faults = await findings(page);
      if (faults.length > 0) found[name] = faults;
      await shot(page, `${name}-${colorScheme}`);
    };
    await page.locator('.scroller [data-place].failed').first().click();
    await page.getByRole('tab', { name: 'Raw' }).waitFor();
    await look('panel');
    await page.getByRole('button', { name: 'Edit and replay…' }).click();
    await page.getByRole('dialog').waitFor();
    await look('dialog');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'What to go to or do' }).waitFor();
    await look('palette');
    const bare = await open(browser(), empty, '/', { colorScheme });
    for (const [name, path] of [
      ['no-calls', '/'],
      ['no-approvals', '/approvals'],
      ['no-servers', '/servers'],
      ['no-sessions', '/sessions'],
      ['no-recordings', '/recordings'],
      ['no-tools', '/tools?find=nothing-like-it'],
      ['no-statistics', '/stats'],
      ['no-runs', '/runs'],
      ['no-keys', '/settings'],
    ] as const) {
      await bare.goto(`${empty.url}${path}`);
      await settled(bare);
      const faults = await findings(bare);
      if (faults.length > 0) found[name] = faults;
      await shot(bare, `${name}-${colorScheme}`);
    }
    expect(found).toEqual({});
  });
});

/**
 * What can be done in a view: its fields, buttons and links that are on show, by their names. Rows of long lists come with
 * scrolling; a minor figure of a table stands in what is opened as well.
 */
const thingsToDo = async (page: Page) =>
  new Set(
    await page.evaluate(() =>
      [...document.querySelectorAll<HTMLElement>('a, button, input, select, textarea, [role=grid]')]
        .filter((each) => !each.closest('.tool-list, .minor'))
        .filter((each) => each.checkVisibility({ visibilityProperty: true, opacityProperty: true }))
        .map((each) => each.getAttribute('aria-label') ?? each.textContent?.trim() ?? ''),
    ),
  );

test('at 320 pixels and at 200 % no view is wider than the screen, and nothing that can be done is lost', async () => {
  const wide = await open(browser(), full);
  const narrow = {
    phone: await open(browser(), full, '/', { viewport: { width: 320, height: 640 }, hasTouch: true }),
    'two-hundred': await open(browser(), full, '/', {
      viewport: { width: 720, height: 450 },
      deviceScaleFactor: 2,
    }),
  };
  const lost: string[] = [];
  for (const [view, path] of VIEWS) {
    await Promise.all(
      [wide, ...Object.values(narrow)].map(async (page) => {
        await page.goto(`${full.url}${path}`);
        await settled(page);
      }),
    );
    for (const [name, page] of Object.entries(narrow)) {
      let missing: string[] = [];
      await eventually('it shows all', async () => {
        const some = await thingsToDo(page);
        missing = [...(await thingsToDo(wide))].filter((thing) => !some.has(thing));
        return missing.length === 0;
      }).catch(() => lost.push(`${view}, ${name}: ${missing.join(' | ')}`));
      lost.push(...(await beside(page)).map((words) => `${view}, ${name}: ${words}`));
      await shot(page, `${view}-${name}`);
    }
  }
  expect(lost).toEqual([]);
});

/** What is beyond the edge of the screen, where nobody finds it. */
function beside(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const width = Math.max(
      document.documentElement.scrollWidth,
      document.querySelector('main')?.scrollWidth ?? 0,
    );
    const lists = [...document.querySelectorAll('main .split .scroll-x')].filter(
      (box) => box.scrollWidth > box.clientWidth,
    );
    const high = [...document.querySelectorAll('.top > *')].filter(
      (part) =>
        part.getBoundingClientRect().bottom > (part.parentElement?.getBoundingClientRect().bottom ?? 0),
    );
    return [
      ...(width > innerWidth ? [`${width} pixels wide`] : []),
      ...lists.map(() => 'a list beside the screen'),
      ...high.map(() => 'a part below the bar'),
    ];
  });
}

test('the first load is at most 200 KB, and rows are there with it', async () => {
  const context = await comeIn(browser(), full);
  const page = await context.newPage();
  let bytes = 0;
  page.on('response', async (response) => {
    if (/\.(js|css|html)$|\/$/.test(new URL(response.url()).pathname))
      bytes += gzipSync(await response.body()).length;
  });
  await page.goto(full.url);
  await page.locator('.scroller [data-place]').first().waitFor();
  expect(bytes).toBeGreaterThan(50_000);
  expect(bytes).toBeLessThanOrEqual(200_000);
});

verifies('dashboard.secrets', async () => {
  const context = await comeIn(browser(), full);
  const page = await visit(context, full, '/');
  const seen: string[] = [];
  page.on('response', async (response) => {
    const text = await response.text().catch(() => '');
    if (text.includes(canary)) seen.push(response.url());
  });
  const { calls } = (await api(full).get('/api/calls')).body;
  for (const path of [
    ...VIEWS.map(([, at]) => at),
    ...calls.map(({ id }: { id: string }) => `/calls/${id}`),
  ]) {
    await page.goto(`${full.url}${path}`);
    await settled(page);
    const everything = await page.evaluate(
      () =>
        document.documentElement.outerHTML +
        location.href +
        JSON.stringify({ ...localStorage, ...sessionStorage }),
    );
    if (everything.includes(canary)) seen.push(path);
  }
  expect(seen).toEqual([]);
});

test('nothing that is copied of a call or a session holds a secret', async () => {
  const context = await comeIn(browser(), full);
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const page = await visit(context, full, '/?q=hello');
  await page.locator('.scroller [data-place]').first().click();
  const copied: string[] = [];
  const copyAll = async (menu: string) => {
    const button = page.getByRole('button', { name: menu, exact: true }).first();
    await button.click();
    await page.getByRole('menuitem').first().waitFor();
    const entries = await page.getByRole('menuitem').count();
    await page.keyboard.press('Escape');
    for (let at = 0; at < entries; at++) {
      await button.click();
      await page.getByRole('menuitem').nth(at).click();
      await eventually('it is copied', async () => {
        const text = await page.evaluate(() => navigator.clipboard.readText());
        if (text === '') return false;
        copied.push(text);
        await page.evaluate(() => navigator.clipboard.writeText(''));
        return true;
      });
    }
  };
  await copyAll('Copy');
  await page.goto(`${full.url}/sessions/guarded`);
  await copyAll('Copy config for');
  expect(copied.length).toBeGreaterThan(10);
  expect(copied.join('\n')).toContain('[redacted]');
  expect(copied.join('\n')).not.toContain(canary);
});

test('the palette goes anywhere, ? shows the keys, and G with a letter goes to a view', async () => {
  const page = await open(browser(), full);
  await page.locator('.scroller [data-place]').first().waitFor();
  await page.keyboard.press('Control+k');
  await page.keyboard.type('stat');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Statistics', level: 1 }).waitFor();
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keys' }).getByText('Go to or do anything').waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.press('g');
  await page.keyboard.press('v');
  await page.getByRole('heading', { name: 'Servers', level: 1 }).waitFor();
});

test('who is not let in is told how to come in, and the token lets in', async () => {
  const context = await browser().newContext();
  const page = await context.newPage();
  await page.goto(full.url);
  await page.getByLabel('Token').fill(full.token);
  await page.getByRole('button', { name: 'Come in' }).click();
  await page.locator('.scroller [data-place]').first().waitFor();
  await context.close();
});
