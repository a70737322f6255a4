import { accessSync, constants } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import type { Gateway } from './gateway.js';

export type { BrowserContext, Dialog, Download, Locator, Page } from 'playwright-core';

export interface ChromiumSettings {
  /** BROWSER_PATH; empty: the first that is found. */
  path: string;
  /** Where programs are looked for. */
  searchPath: string;
}

const NAMES = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome', 'chrome', 'msedge'];
const ELSEWHERE = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
  'C:\\Program Files (x86)\\Microsoft\\Edge\\Application\\msedge.exe',
];
const HOW_TO_GET_IT =
  'agent_browser needs Chromium or Chrome, and there is none on this machine. Install it ("apt-get install chromium" on Debian and ' +
  'Ubuntu, "dnf install chromium" on Fedora, "brew install --cask chromium" on macOS), or set BROWSER_PATH to one.';

const ARGUMENTS = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-domain-reliability',
  // Nothing passes by the gateway, names least of all.
  '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1',
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
];
/** Of the environment: the rest may hold secrets. */
const KEPT = ['PATH', 'LANG', 'LC_ALL', 'TZ', 'SystemRoot'];

function findChromium({ path, searchPath }: ChromiumSettings): string {
  const candidates = path
    ? [path]
    : [
        ...searchPath.split(delimiter).flatMap((folder) => NAMES.map((name) => join(folder, name))),
        ...ELSEWHERE,
      ];
  const found = candidates.find(isProgram);
  if (found) return found;
  throw new Error(path ? `BROWSER_PATH is "${path}", and there is no program.` : HOW_TO_GET_IT);
}

/** A process of its own with that profile. The library is loaded when it is first used. */
export async function launchChromium(
  settings: ChromiumSettings,
  profile: string,
  gateway: Gateway,
  env: NodeJS.ProcessEnv,
): Promise<BrowserContext> {
  const executablePath = findChromium(settings);
  await mkdir(profile, { recursive: true, mode: 0o700 });
  const { chromium } = await import('playwright-core');
  const server = await gateway.open();
  const { username, password } = gateway;
  return chromium.launchPersistentContext(profile, {
    executablePath,
    headless: true,
    // Chromium cannot confine itself as root.
    chromiumSandbox: process.getuid?.() !== 0,
    args: ARGUMENTS,
    proxy: { server, username, password },
    viewport: { width: 1280, height: 800 },
    serviceWorkers: 'block',
    env: { ...kept(env), HOME: profile },
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
  });
}

function kept(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(KEPT.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
