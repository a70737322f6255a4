import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { api } from '../support/api.js';
import { bareServer, type RunningOrchestrator, startOrchestrator } from '../support/orchestrator.js';
import { eventually, fixture, root } from '../support/processes.js';
import { type Agent, startAgent } from './support/agent.js';
import { useBrowser } from './support/browser.js';
import { comeIn, open, shot, visit } from './support/visit.js';

const browser = useBrowser();
let running: RunningOrchestrator;
let agent: Agent;

beforeAll(async () => {
  running = await startOrchestrator({
    servers: {
      bare: bareServer,
      page: { command: process.execPath, args: [fixture('page-server.mjs')] },
      everything: {
        command: process.execPath,
        args: [`${root}/node_modules/@modelcontextprotocol/server-everything/dist/index.js`],
      },
      awkward: { command: process.execPath, args: [fixture('awkward-server.mjs')] },
    },
  });
  agent = await startAgent(running, 'caller');
});
afterAll(() => running.stop());

const detail = (page: Page) => page.getByRole('complementary', { name: /^Tool/ });
const json = (page: Page) => detail(page).getByRole('textbox', { name: /^Arguments as JSON/ });

describe('tools', () => {
  test('a form made from a schema sends exactly the JSON beside it, and says what the schema refuses', async () => {
    const page = await open(browser(), running, '/tools?tool=page__count');
    await detail(page).getByRole('spinbutton', { name: /^n/ }).fill('12');
    await detail(page)
      .getByText(/n: .*greater than/)
      .waitFor();
    const run = detail(page).getByRole('button', { name: 'Run' });
    expect(await run.isDisabled()).toBe(true);
    await detail(page).getByRole('spinbutton', { name: /^n/ }).fill('4');
    await detail(page).getByRole('textbox', { name: /^who/ }).fill('me');
    expect(JSON.parse(await json(page).inputValue())).toEqual({ n: 4, who: 'me' });
    await run.click();
    await detail(page).getByRole('region', { name: 'Answer' }).getByText('16').waitFor();
    const { calls } = (await api(running).get('/api/calls').query({ q: 'tool:count', limit: 1 })).body;
    expect(JSON.parse(calls[0].args)).toEqual({ n: 4, who: 'me' });
    await json(page).fill('{"n": 5}');
    expect(await detail(page).getByRole('spinbutton', { name: /^n/ }).inputValue()).toBe('5');
    await shot(page, 'tools');
  });

  test('every awkward schema becomes a form, or leaves its JSON', async () => {
    const { tools } = (await api(running).get('/api/tools?server=awkward')).body as {
      tools: { name: string }[];
    };
    const page = await open(browser(), running, '/tools');
    expect(tools.length).toBeGreaterThan(5);
    for (const { name } of tools) {
      await page.evaluate((tool) => {
        history.pushState(null, '', `/tools?tool=${tool}`);
        window.dispatchEvent(new PopStateEvent('popstate'));
      }, name);
      await page.getByRole('complementary', { name: `Tool ${name}`, exact: true }).waitFor();
      await json(page).waitFor();
    }
  });

  test('words find tools as a model would find them', async () => {
    const page = await open(browser(), running, '/tools');
    await page.getByRole('textbox', { name: 'Find tools' }).fill('add two numbers');
    await page
      .getByRole('status')
      .getByText(/found, best first/)
      .waitFor();
    await page.getByRole('button', { name: /^everything__get-sum/ }).click();
    await detail(page).waitFor();
  });
});

describe('statistics', () => {
  test('a number, followed, opens the calls that it counts', async () => {
    for (let n = 0; n < 4; n++) await agent.call('page__count', { n: 0 });
    for (let n = 0; n < 3; n++) await agent.call('bare__echo', { text: 'x' });
    const context = await comeIn(browser(), running);
    const page = await visit(context, running, '/stats?t=1h');
    const row = page.getByRole('row').filter({ hasText: 'page · count' });
    const shown = Number(await row.getByRole('link').nth(1).textContent());
    await shot(page, 'statistics');
    await row.getByRole('link').nth(1).click();
    await page.locator('.scroller [data-place]').first().waitFor();
    await eventually(
      'these and no others are shown',
      async () => (await page.locator('.scroller [data-place]').count()) === shown,
    );
    await page.goBack();
    await page
      .getByRole('region', { name: 'Failures by code' })
      .getByRole('link', { name: 'INVALID_ARGUMENTS' })
      .click();
    await page.locator('.scroller [data-place]').first().waitFor();
    await eventually(
      'these and no others are shown',
      async () => (await page.locator('.scroller [data-place].refused').count()) === 4,
    );
  });

  test('each chart has its table', async () => {
    const page = await open(browser(), running, '/stats?t=15m');
    await page.getByRole('img', { name: /calls, .* failed/ }).waitFor();
    await page.getByRole('button', { name: 'Table' }).first().click();
    await page.getByRole('region', { name: 'Calls a second, by outcome' }).getByRole('table').waitFor();
  });
});

describe('sessions', () => {
  test('a policy shows what it would change before it is saved, and a session is ended by keys', async () => {
    const page = await open(browser(), running, '/sessions/caller?tab=policy');
    await page.getByRole('textbox', { name: 'May not call' }).fill('bare__*');
    await page.getByText(/3 tools lost/).waitFor();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    const refused = await agent.call('bare__echo', { text: 'x' });
    expect(JSON.stringify(refused)).toContain('TOOL_NOT_ALLOWED');
    await page.getByRole('tab', { name: 'Policy' }).focus();
    await page.keyboard.press('ArrowLeft');
    await page.getByRole('cell', { name: 'deny bare__*' }).first().waitFor();
    await page.keyboard.press('ArrowLeft');
    await page.getByRole('group', { name: /calls by server/ }).waitFor();
    await shot(page, 'sessions');
    await page.getByRole('button', { name: 'End session…' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: 'End it' }).focus();
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/sessions$/);
    const { sessions } = (await api(running).get('/api/sessions')).body;
    expect(sessions.map(({ id }: { id: string }) => id)).not.toContain('caller');
  });
});
