import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect } from '@jest/globals';
import type { Browser, BrowserContext, BrowserContextOptions, Page, WebSocket } from 'playwright-core';
import type { RunningOrchestrator } from '../../support/orchestrator.js';
import { root } from '../../support/processes.js';

const shots = join(root, '.cache/dashboard');
mkdirSync(shots, { recursive: true });

const contexts: BrowserContext[] = [];
/** What no view may ever do: write to the console, throw, ask another host, break the CSP. */
let problems: string[] = [];
let allowed: RegExp | undefined;

afterEach(async () => {
  await Promise.all(contexts.splice(0).map((context) => context.close()));
  const found = problems.filter((problem) => !allowed?.test(problem));
  problems = [];
  allowed = undefined;
  expect(found).toEqual([]);
});

/** A test that breaks something on purpose says which problems are none. */
export function allowProblems(pattern: RegExp): void {
  allowed = pattern;
}

/** A browser of its own that was let in. */
export async function comeIn(
  browser: Browser,
  running: RunningOrchestrator,
  options: BrowserContextOptions = {},
): Promise<BrowserContext> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
  contexts.push(context);
  // A busy machine may take its time.
  context.setDefaultTimeout(Number(process.env.PAGE_TIMEOUT ?? 100_000));
  const response = await fetch(`${running.url}/api/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token: running.token }),
  });
  const [pair = ''] = (response.headers.get('set-cookie') ?? '').split(';');
  const [name = '', value = ''] = pair.split('=');
  await context.addCookies([{ name, value, url: running.url, httpOnly: true, sameSite: 'Strict' }]);
  return context;
}

/** A view in a tab, loaded. */
export async function visit(
  context: BrowserContext,
  running: RunningOrchestrator,
  path: string,
): Promise<Page> {
  const page = await context.newPage();
  watch(page, running.url);
  await page.goto(`${running.url}${path}`);
  await page.locator('main').waitFor();
  return page;
}

/** Let in and at a view, in one. */
export async function open(
  browser: Browser,
  running: RunningOrchestrator,
  path = '/',
  options: BrowserContextOptions = {},
): Promise<Page> {
  return visit(await comeIn(browser, running, options), running, path);
}

const sockets = new WeakMap<Page, Set<WebSocket>>();

/** The WebSockets that the page has open, by their addresses. */
export const openSockets = (page: Page): string[] => [...(sockets.get(page) ?? [])].map((each) => each.url());

function watch(page: Page, home: string): void {
  const open = new Set<WebSocket>();
  sockets.set(page, open);
  page.on('websocket', (socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
  });
  page.on('console', (message) => problems.push(`console ${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => problems.push(`error: ${error.message}`));
  page.on('dialog', (dialog) => {
    problems.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(home) && !url.startsWith('data:') && !url.startsWith('blob:'))
      problems.push(`request to ${url}`);
  });
}

/** Kept under .cache/dashboard, for people to look at. */
export const shot = (page: Page, name: string) => page.screenshot({ path: join(shots, `${name}.png`) });
