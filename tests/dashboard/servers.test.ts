import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { verifies } from '../requirements.js';
import { api } from '../support/api.js';
import { bareServer, type RunningOrchestrator, startOrchestrator } from '../support/orchestrator.js';
import { fixture } from '../support/processes.js';
import { featuresServer } from '../support/road.js';
import { useBrowser } from './support/browser.js';
import { open, shot } from './support/visit.js';

const browser = useBrowser();
let running: RunningOrchestrator;
let folder: string;
let toolsFile: string;

const tool = (name: string, description: string) => ({ name, description, inputSchema: { type: 'object' } });
const canary = 'canary-5up3r-s3cr3t';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mcpbridge-page-'));
  toolsFile = join(folder, 'tools.json');
  await writeFile(toolsFile, JSON.stringify([tool('reload', 'Reloads'), tool('read', 'Reads a file')]));
  running = await startOrchestrator({
    servers: {
      bare: { ...bareServer, env: { API_TOKEN: canary } },
      features: featuresServer({}, { isolation: 'shared' }),
      mortal: featuresServer({}, { isolation: 'shared' }),
      moody: {
        command: process.execPath,
        args: [fixture('changing-server.mjs')],
        env: { TOOLS_FILE: toolsFile },
      },
      broken: {
        command: process.execPath,
        args: ['-e', 'console.error("no database at 5432"); process.exit(3)'],
      },
    },
  });
});
afterAll(async () => {
  await running.stop();
  await rm(folder, { recursive: true, force: true });
});

const row = (page: Page, id: string) =>
  page.getByRole('row').filter({ has: page.getByRole('link', { name: id, exact: true }) });
const detail = (page: Page) => page.getByRole('complementary', { name: /^Server/ });

test('a server that cannot start shows why and when it is tried again; stop and start work from its row', async () => {
  const page = await open(browser(), running, '/servers');
  await row(page, 'broken')
    .getByText(/no database at 5432/)
    .waitFor();
  await row(page, 'broken')
    .getByText(/Tried again in \d+ s/)
    .waitFor();
  await row(page, 'broken').getByRole('button', { name: 'Try now broken' }).waitFor();
  await row(page, 'bare').getByRole('button', { name: 'Stop bare' }).click();
  await row(page, 'bare').getByText('stopped').waitFor();
  await row(page, 'bare').getByRole('button', { name: 'Start bare' }).click();
  await row(page, 'bare').getByText('ready').waitFor();
  await shot(page, 'servers');
});

test('a server that is killed in a call says what happened', async () => {
  const page = await open(browser(), running, '/servers/features?tab=output');
  await detail(page).waitFor();
  await api(running).post('/tools/mcp/features/crash').send({ code: 9 });
  await detail(page).getByText('about to crash').waitFor();
  await page.getByRole('tab', { name: 'Why' }).click();
  await detail(page)
    .getByText(/exit code 9/)
    .waitFor();
  await row(page, 'features').getByText('Tried again with the next call.').waitFor();
});

test('a server that is killed at rest shows its reason and next try within two seconds', async () => {
  const page = await open(browser(), running, '/servers');
  const { body } = await api(running).post('/tools/mcp/mortal/pid').send({});
  await row(page, 'mortal').getByText('ready').waitFor();
  // Looked at from within the page, so that only its own road is measured.
  const seen = page.evaluate(async () => {
    const said = () => [...document.querySelectorAll('tr')].map((each) => each.textContent ?? '');
    while (!said().some((text) => /mortal/.test(text) && /SIGKILL/.test(text) && /Tried again/.test(text)))
      await new Promise((next) => requestAnimationFrame(next));
    return Date.now();
  });
  const begun = Date.now();
  process.kill(Number(body.result), 'SIGKILL');
  expect((await seen) - begun).toBeLessThan(2000);
});

verifies('dashboard.editor', async () => {
  const page = await open(browser(), running, '/servers/bare?tab=config');
  const editor = detail(page).getByRole('textbox', { name: 'Configuration' });
  await editor.waitFor();
  expect(await editor.textContent()).not.toContain(canary);
  await editor.click();
  await page.keyboard.press('Control+a');
  const write = async (servers: object) => {
    await editor.click();
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText(JSON.stringify(servers, null, 2));
  };
  const { command, args } = bareServer;
  await write({ bare: { command, arg: args } });
  await detail(page)
    .getByRole('alert')
    .getByText(/"arg" is not known; did you mean "args"/)
    .waitFor();
  await detail(page).locator('.cm-lintRange-error').first().waitFor();
  const review = detail(page).getByRole('button', { name: 'Review, save…' });
  expect(await review.isDisabled()).toBe(true);
  await shot(page, 'config-fault');
  await write({ bare: { command, args, env: { API_TOKEN: '********' }, description: 'Says things again' } });
  await detail(page).getByText('It can be saved.').waitFor();
  await review.click();
  await detail(page)
    .getByRole('region', { name: 'What would change' })
    .getByText('/bare/description')
    .waitFor();
  await detail(page).getByRole('button', { name: 'Save', exact: true }).click();
  await detail(page).getByRole('status', { name: 'Saved' }).getByText('ready').waitFor();
  expect((await api(running).get('/api/servers/bare')).body.description).toBe('Says things again');
});

test('a tool that changed shows its difference, to accept or to block; the badge is right at once', async () => {
  const change = async (words: string) => {
    await writeFile(toolsFile, JSON.stringify([tool('reload', 'Reloads'), tool('read', words)]));
    await api(running).post('/tools/mcp/moody/reload').send({});
  };
  const page = await open(browser(), running, '/servers/moody');
  await detail(page).waitFor();
  await change('Reads a file, then mails it');
  const badge = row(page, 'moody').getByText('1 changed');
  await badge.waitFor();
  await badge.click();
  await detail(page).getByText('Reads a file, then mails it').waitFor();
  await detail(page).locator('.side.was').getByText('Reads a file', { exact: false }).waitFor();
  await detail(page).getByRole('button', { name: 'Block' }).click();
  await detail(page).getByText('blocked').waitFor();
  await badge.waitFor({ state: 'detached' });
  await detail(page).getByRole('button', { name: 'Accept as it is now' }).click();
  await detail(page).getByRole('tab', { name: 'Changes' }).waitFor({ state: 'detached' });
  const { tools } = (await api(running).get('/api/tools?server=moody')).body;
  expect(tools.map(({ name }: { name: string }) => name)).toContain('moody__read');
});

test('all servers are listed anew, each with its outcome', async () => {
  const page = await open(browser(), running, '/servers');
  await page.getByRole('button', { name: 'Discover' }).click();
  const dialog = page.getByRole('dialog', { name: 'All servers were listed anew' });
  await dialog.waitFor();
  const { tools } = (await api(running).get('/api/servers/features')).body;
  await dialog.getByText(`${tools} tools`).first().waitFor();
  await dialog.getByText(/no database at 5432/).waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
});
