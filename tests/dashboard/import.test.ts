import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { api } from '../support/api.js';
import { bareServer, type RunningOrchestrator, startOrchestrator } from '../support/orchestrator.js';
import { findings } from './support/axe.js';
import { useBrowser } from './support/browser.js';
import { open, shot } from './support/visit.js';

const browser = useBrowser();
const canary = 'canary-5up3r-s3cr3t';
let home: string;
let running: RunningOrchestrator;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'mcpbridge-clients-'));
  await mkdir(join(home, '.cursor'));
  await writeFile(
    join(home, '.cursor/mcp.json'),
    `{"mcpServers": {
      "mine": ${JSON.stringify({ ...bareServer, env: { API_TOKEN: canary } })},
      "other": {"command": "none", "args": ["--token", "${canary}"]},
      "bridge": {"command": "node", "args": ["/somewhere/mcpbridge.cjs"]},
    }}`,
  );
  await writeFile(join(home, '.claude.json'), '{ this is broken');
  running = await startOrchestrator({ servers: {}, env: { HOME: home } });
});
afterAll(async () => {
  await running.stop();
  await rm(home, { recursive: true, force: true });
});

test('without servers, those of other clients on the machine are offered and taken over, secrets unseen', async () => {
  const page = await open(browser(), running, '/servers');
  const offer = page.getByRole('region', { name: 'Found on this machine' });
  await offer.getByLabel(/^mine/).waitFor();
  await offer.getByLabel(/^other/).uncheck();
  expect(await offer.getByRole('checkbox').count()).toBe(2);
  expect(await page.content()).not.toContain(canary);
  expect(await findings(page)).toEqual([]);
  await shot(page, 'found-servers');
  await offer.getByRole('button', { name: 'Take over 1 server' }).click();
  await page.getByRole('row').filter({ hasText: 'mine' }).getByText('ready').waitFor();
  const { body } = await api(running).post('/tools/mcp/mine/echo').send({ text: 'taken over' });
  expect(body.result).toBe('taken over');
  await page.getByRole('button', { name: 'Add a server…' }).click();
  await page
    .getByRole('dialog')
    .getByLabel(/^other/)
    .waitFor();
  expect(await page.getByRole('dialog').getByLabel(/^mine/).count()).toBe(0);
});
