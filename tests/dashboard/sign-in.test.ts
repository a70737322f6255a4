import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { api } from '../support/api.js';
import { browse, type LoginHouse, startLoginHouse } from '../support/login-house.js';
import { type RunningOrchestrator, startOrchestrator } from '../support/orchestrator.js';
import { useBrowser } from './support/browser.js';
import { allowProblems, open, shot } from './support/visit.js';

const browser = useBrowser();
let house: LoginHouse;
let running: RunningOrchestrator;

beforeAll(async () => {
  house = await startLoginHouse();
  running = await startOrchestrator({ servers: { guarded: { url: house.mcp } } });
  await whoAmI();
});
const whoAmI = () =>
  api(running).post('/api/mcp/execute').send({ server_name: 'guarded', tool_name: 'whoami' });
afterAll(async () => {
  await running?.stop();
  await house?.stop();
});

test('a server that wants a sign-in has a button for it, which leads to its login service; then there is one to leave', async () => {
  // It leaves for the login service, which is the point.
  allowProblems(new RegExp(`request to ${house.issuer}|ERR_`));
  const page = await open(browser(), running, '/servers');
  await page
    .getByRole('row')
    .getByText(/wants to know who you are: sign in/)
    .waitFor();
  await shot(page, 'sign-in-needed');
  // What it leads to is gone through as a person would.
  await page.route(`${house.issuer}/**`, (route) => route.abort('aborted'));
  const begun = page.waitForResponse((response) => response.url().endsWith('/api/oauth/start'));
  await page.getByRole('button', { name: 'Sign in guarded' }).click();
  const answer = (await (await begun).json()) as { authorization_url: string };
  expect(new URL(answer.authorization_url).origin).toBe(house.issuer);
  expect((await fetch(await browse(answer.authorization_url, 'ada'))).status).toBe(200);
  const after = await open(browser(), running, '/servers/guarded');
  const out = after.getByRole('button', { name: 'Sign out guarded' });
  await out.click();
  await out.waitFor({ state: 'detached' });
  // Whether it wants to know who calls is known by its refusal alone.
  await whoAmI();
  await after.getByRole('button', { name: 'Sign in guarded' }).first().waitFor();
});

test('where a login service is set up, the door of the dashboard leads to it', async () => {
  const people = await startOrchestrator({ env: { OAUTH_ISSUER: house.issuer, OAUTH_CLIENT_ID: 'page' } });
  try {
    const context = await browser().newContext();
    const page = await context.newPage();
    await page.goto(`${people.url}/?login=rights`);
    await page.getByText('The login service knows you, but you may do nothing here.').waitFor();
    const door = page.getByRole('link', { name: 'Come in with your account' });
    expect(await door.getAttribute('href')).toBe('/login/oidc');
    await shot(page, 'door');
    await context.close();
  } finally {
    await people.stop();
  }
});
