import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { api } from '../support/api.js';
import { bareServer, type RunningOrchestrator, startOrchestrator } from '../support/orchestrator.js';
import { useBrowser } from './support/browser.js';
import { allowProblems, open, shot } from './support/visit.js';

const browser = useBrowser();
const VALUE = 'not to be seen again';
let running: RunningOrchestrator;
beforeAll(async () => {
  running = await startOrchestrator({
    servers: { bare: { ...bareServer, env: { KEY: `$${'{secret:MINE}'}` } } },
  });
});
afterAll(() => running.stop());

test('a secret is added, replaced and deleted in the settings, and its value is on no page', async () => {
  // One value is refused.
  allowProblems(/status of 400/);
  const page = await open(browser(), running, '/settings');
  const section = page.getByRole('region', { name: 'Secrets' });
  await section.getByLabel('Name of the secret').fill('MINE');
  await section.getByLabel('Its value').fill('tiny');
  await section.getByRole('button', { name: 'Add it' }).click();
  await section.getByText(/6 to 65536 characters/).waitFor();
  await section.getByLabel('Its value').fill(VALUE);
  await section.getByRole('button', { name: 'Add it' }).click();
  await section.getByText(/used by bare/).waitFor();
  expect(await section.getByLabel('Its value').inputValue()).toBe('');
  const { body } = await api(running, 'a').post('/tools/mcp/bare/echo').send({ text: 'on' });
  expect(body.result).toBe('on');
  await section.getByRole('button', { name: 'Replace', exact: true }).click();
  await section.getByLabel('Its value').fill(`${VALUE} either`);
  await section.getByRole('button', { name: 'Replace it' }).click();
  await section.getByText('MINE is set.').waitFor();
  expect(await page.content()).not.toContain(VALUE);
  await shot(page, 'secrets');
  await section.getByRole('button', { name: 'Delete', exact: true }).click();
  await section.getByRole('button', { name: 'Delete MINE for good' }).click();
  await section.getByRole('listitem').waitFor({ state: 'detached' });
  expect((await api(running).get('/api/secrets')).body).toEqual({ secrets: [] });
});
