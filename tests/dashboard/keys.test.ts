import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { api } from '../support/api.js';
import { bareServer, type RunningOrchestrator, startOrchestrator } from '../support/orchestrator.js';
import { startAgent } from './support/agent.js';
import { findings } from './support/axe.js';
import { useBrowser } from './support/browser.js';
import { open, shot } from './support/visit.js';

const browser = useBrowser();
let running: RunningOrchestrator;
beforeAll(async () => {
  running = await startOrchestrator({ servers: { bare: bareServer } });
});
afterAll(() => running.stop());

test('a key is made in the settings, shown once, lets in as far as it says, and is revoked', async () => {
  const page = await open(browser(), running, '/settings');
  const section = page.getByRole('region', { name: 'Keys' });
  await section.getByRole('button', { name: 'New key…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('anna-laptop');
  await dialog.getByLabel('May call').fill('bare__echo');
  await dialog.getByLabel('Ends after').fill('30d');
  expect(await findings(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Make it' }).click();
  const key = (await dialog.locator('pre').textContent()) ?? '';
  expect(key).toMatch(/^mcpk_/);
  await shot(page, 'new-key');
  await dialog.getByRole('button', { name: 'I have it' }).click();
  const row = section.getByRole('listitem');
  await row.getByText('bare__echo').waitFor();
  await row.getByText(/never used · ends in (29|30)\sdays$/).waitFor();
  expect(await page.content()).not.toContain(key);
  const agent = await startAgent(running, 'of-anna', { MCP_API_TOKEN: key });
  expect(await agent.call('bare__echo', { text: 'hers' })).toMatchObject({
    result: { content: [{ text: 'hers' }] },
  });
  expect(JSON.stringify(await agent.call('bare__slow', { ms: 1 }))).toContain('TOOL_NOT_ALLOWED');
  await page.reload();
  await row.getByText(/last use/).waitFor();
  await shot(page, 'keys');
  await row.getByRole('button', { name: 'Its calls' }).click();
  await page.locator('.scroller').getByText('hers').first().waitFor();
  await page.goBack();
  await row.getByRole('button', { name: 'Revoke', exact: true }).click();
  await row.getByRole('button', { name: 'Revoke anna-laptop and end its sessions' }).click();
  await row.waitFor({ state: 'detached' });
  expect((await api(running).get('/api/keys')).body).toEqual({ keys: [] });
  const answer = await fetch(`${running.url}/api/tools`, { headers: { authorization: `Bearer ${key}` } });
  expect(answer.status).toBe(401);
});

test('the settings say who was seen, and how much of the log is kept', async () => {
  const agent = await startAgent(running, 'seen');
  await agent.call('bare__echo', { text: 'here I am' });
  const page = await open(browser(), running, '/settings');
  await page.getByText(/^Seen: .+, \d\d:\d\d:\d\d$/).waitFor();
  await page
    .getByRole('region', { name: 'Log' })
    .getByText(/Calls are kept for 30 d or in 5 GiB; .+ used/)
    .waitFor();
});
