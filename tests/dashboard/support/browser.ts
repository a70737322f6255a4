import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterAll, beforeAll } from '@jest/globals';
import { type Browser, chromium } from 'playwright-core';

const CHROMIUM = '/usr/bin/chromium';
const run = promisify(execFile);

let browser: Browser | undefined;

/** One browser for the tests of a file. */
export function useBrowser(): () => Browser {
  beforeAll(async () => {
    if (!existsSync(CHROMIUM)) await install();
    browser = await chromium.launch({
      executablePath: CHROMIUM,
      // CI is root in a container, where Chromium's own sandbox cannot be made.
      args: ['--no-sandbox', '--disable-dev-shm-usage'],
    });
  });
  afterAll(() => browser?.close());
  return () => {
    if (!browser) throw new Error('The browser is not open yet.');
    return browser;
  };
}

async function install(): Promise<void> {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  await run('apt-get', ['update', '-qq'], { env });
  await run(
    'apt-get',
    ['install', '-y', '-qq', '--no-install-recommends', 'chromium', 'fonts-dejavu-core', 'fonts-liberation'],
    { env },
  );
}
