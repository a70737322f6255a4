import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { verifies } from '../requirements.js';
import { api } from '../support/api.js';
import { bareServer, type RunningOrchestrator, startOrchestrator } from '../support/orchestrator.js';
import { fixture } from '../support/processes.js';
import { type Agent, startAgent } from './support/agent.js';
import { useBrowser } from './support/browser.js';
import { allowProblems, open, shot } from './support/visit.js';

const browser = useBrowser();
let running: RunningOrchestrator;
let agent: Agent;
let folder: string;
/** What the changing server says. */
let wordFile: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mcpbridge-word-'));
  wordFile = join(folder, 'word');
  await writeFile(wordFile, '{"word":"old","same":[1,2]}');
  running = await startOrchestrator({
    servers: {
      bare: bareServer,
      word: { command: process.execPath, args: [fixture('word-server.mjs'), wordFile] },
    },
  });
  agent = await startAgent(running, 'flight');
  await agent.call('bare__echo', { text: 'before' });
});
afterAll(async () => {
  await running.stop();
  await rm(folder, { recursive: true, force: true });
});

const detail = (page: Page) => page.getByRole('complementary', { name: 'Recording' });

verifies('dashboard.recordings', async () => {
  const page = await open(browser(), running, '/sessions/flight');
  await page.getByRole('button', { name: 'Record', exact: true }).click();
  await page.getByRole('button', { name: 'End recording' }).waitFor();
  await agent.call('bare__echo', { text: 'recorded' });
  await agent.call('word__say');
  await page.getByRole('link', { name: 'what is recorded' }).click();
  await detail(page).getByRole('button', { name: 'word · say' }).waitFor();
  await detail(page).getByRole('button', { name: 'End recording' }).click();
  await detail(page).getByRole('button', { name: 'Remove…' }).waitFor();

  await detail(page).getByRole('button', { name: 'bare · echo' }).click();
  const call = page.getByRole('dialog', { name: 'bare · echo' });
  const frames = call.getByRole('region', { name: 'Frames' });
  await frames.getByText('tools/call').click();
  await frames.getByText('"recorded"').waitFor();
  await shot(page, 'recorded-call');
  await page.keyboard.press('Escape');

  await writeFile(wordFile, '{"word":"new","same":[1,2]}');
  await page.getByRole('tab', { name: 'Replay against…' }).click();
  const run = detail(page).getByRole('button', { name: 'Run' });
  expect(await run.isDisabled()).toBe(true);
  await detail(page).getByRole('checkbox').check();
  await run.click();
  await detail(page).getByText('1 of 2 answers differ.').waitFor();
  const paths = detail(page).locator('[data-path]');
  expect(await paths.evaluateAll((all) => all.map((each) => each.getAttribute('data-path')))).toEqual([
    '/result/content/0/text/word',
  ]);
  expect(await paths.textContent()).toMatch(/old.*new/);
  await shot(page, 'recording-replayed');

  await page.getByRole('tab', { name: 'Serve' }).click();
  await detail(page)
    .getByText(/main\.js recording \/.*flight.*\.jsonl/)
    .waitFor();
});

test('a recording of elsewhere is imported from a file, what is none is refused, and it can be removed', async () => {
  const { recordings } = (await api(running).get('/api/recordings')).body;
  const text = await readFile(recordings[0].file, 'utf8');
  const page = await open(browser(), running, '/recordings');
  const field = page.getByLabel('Recording to import');
  const file = (name: string, content: string) => ({
    name,
    mimeType: 'application/jsonl',
    buffer: Buffer.from(content),
  });
  allowProblems(/400/);
  await field.setInputFiles(file('holiday photo.jsonl', '{"a":1}'));
  await page
    .getByRole('alert')
    .getByText(/"holiday-photo.jsonl" is no recording/)
    .waitFor();
  await field.setInputFiles(file('from afar.jsonl', text));
  await detail(page).getByRole('heading', { name: 'from-afar.jsonl' }).waitFor();
  await detail(page).getByRole('button', { name: 'word · say' }).waitFor();
  await detail(page).getByRole('button', { name: 'Remove…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove it' }).click();
  await page.getByRole('link', { name: 'from-afar' }).waitFor({ state: 'detached' });
});

test('the raw view of a call has its frames where they were recorded, and says where they were not', async () => {
  const { calls } = (await api(running).get('/api/calls').query({ q: 'session:flight' })).body;
  const idOf = (words: string) => calls.find(({ args }: { args: string }) => args.includes(words))?.id;
  const page = await open(browser(), running, `/calls/${idOf('recorded')}?tab=raw`);
  await page.getByRole('region', { name: 'Frames' }).getByText('legacy era').waitFor();
  await shot(page, 'frames');
  await page.goto(`${running.url}/calls/${idOf('before')}?tab=raw`);
  await page.getByText('Frames are kept while a session is recorded').waitFor();
  await page.getByRole('region', { name: 'Request' }).getByText('"before"').waitFor();
});
