import { existsSync, readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Browser } from './browser.js';
import { type ChromiumSettings, launchChromium } from './chromium.js';
import { Gateway } from './gateway.js';

export interface BrowserSettings extends ChromiumSettings {
  /** Profiles are below it. */
  home: string;
  /** Names and addresses that may be private. */
  allowedHosts: readonly string[];
  idleMs: number;
  env: NodeJS.ProcessEnv;
}

interface Held {
  browser: Promise<Browser>;
  profile: string;
  timer: NodeJS.Timeout | undefined;
  /** Commands that run or wait. */
  busy: number;
}

/** Each is a process of some 200 MB. */
const MOST = 16;
const MOST_OF_SESSION = 4;

/**
 * The browsers of all sessions. Each has a process and a profile of its own; the process ends when it is idle, with its
 * session, and with us (its pipe breaks), the profile with its session.
 */
export class Browsers {
  readonly gateway: Gateway;
  private readonly open = new Map<string, Map<string, Held>>();
  private readonly folder: string;
  private lastId = 0;
  /** By session and name: what is kept while the process is not there. */
  private readonly profiles = new Map<string, Map<string, string>>();

  constructor(private readonly settings: BrowserSettings) {
    this.gateway = new Gateway(settings.allowedHosts);
    this.folder = join(settings.home, 'browsers');
  }

  names(sessionId: string): string[] {
    return [...(this.open.get(sessionId)?.keys() ?? [])];
  }

  /** Lets `use` work with that browser of the session, after those that came before; it opens when it is not there. */
  async use<T>(sessionId: string, name: string, use: (browser: Browser) => Promise<T>): Promise<T> {
    const held = this.hold(sessionId, name);
    clearTimeout(held.timer);
    held.busy += 1;
    try {
      const browser = await held.browser;
      return await browser.inTurn(() => use(browser));
    } finally {
      held.busy -= 1;
      if (held.busy === 0) this.rest(sessionId, name, held);
    }
  }

  /** False: there was none. With `forget` its profile goes as well. */
  async end(sessionId: string, name: string, forget = false): Promise<boolean> {
    const held = this.open.get(sessionId)?.get(name);
    if (held) {
      this.drop(sessionId, name, held);
      await held.browser.then((browser) => browser.close()).catch(() => {});
    }
    const profile = this.profiles.get(sessionId)?.get(name);
    if (forget && profile) {
      this.profiles.get(sessionId)?.delete(name);
      await removeProfile(profile);
    }
    return held !== undefined;
  }

  async endSession(sessionId: string): Promise<void> {
    const names = new Set([...this.names(sessionId), ...(this.profiles.get(sessionId)?.keys() ?? [])]);
    await Promise.all([...names].map((name) => this.end(sessionId, name, true)));
    this.profiles.delete(sessionId);
  }

  async close(): Promise<void> {
    const sessions = new Set([...this.open.keys(), ...this.profiles.keys()]);
    await Promise.all([...sessions].map((id) => this.endSession(id)));
    await this.gateway.close();
  }

  private hold(sessionId: string, name: string): Held {
    const own = this.open.get(sessionId) ?? new Map<string, Held>();
    const known = own.get(name);
    if (known) return known;
    const all = [...this.open.values()].reduce((sum, some) => sum + some.size, 0);
    if (own.size >= MOST_OF_SESSION)
      throw new Error(
        `This session has ${own.size} browsers (${[...own.keys()].join(', ')}): close one first.`,
      );
    if (all >= MOST) throw new Error(`There are ${all} browsers open, as many as may: try again later.`);
    const profile = this.profileOf(sessionId, name);
    const held: Held = { browser: this.launch(profile), profile, timer: undefined, busy: 0 };
    own.set(name, held);
    this.open.set(sessionId, own);
    held.browser.then(
      (browser) => browser.onGone(() => this.drop(sessionId, name, held)),
      () => this.drop(sessionId, name, held),
    );
    return held;
  }

  private async launch(profile: string): Promise<Browser> {
    await this.removeLeftovers();
    const { settings, gateway } = this;
    return new Browser(await launchChromium(settings, profile, gateway, settings.env));
  }

  private profileOf(sessionId: string, name: string): string {
    const own = this.profiles.get(sessionId) ?? new Map<string, string>();
    this.profiles.set(sessionId, own);
    const profile = own.get(name) ?? join(this.folder, `${process.pid}-${++this.lastId}`);
    own.set(name, profile);
    return profile;
  }

  private rest(sessionId: string, name: string, held: Held): void {
    held.timer = setTimeout(() => void this.end(sessionId, name), this.settings.idleMs).unref();
  }

  private drop(sessionId: string, name: string, held: Held): void {
    clearTimeout(held.timer);
    const own = this.open.get(sessionId);
    if (own?.get(name) !== held) return;
    own.delete(name);
    if (own.size === 0) this.open.delete(sessionId);
  }

  /** Profiles of orchestrators that were killed; once is enough. */
  private removeLeftovers(): Promise<void> {
    this.leftovers ??= Promise.all(
      (existsSync(this.folder) ? readdirSync(this.folder) : [])
        .filter((name) => !isAlive(Number.parseInt(name, 10)))
        .map((name) => rm(join(this.folder, name), { recursive: true, force: true })),
    ).then(() => {});
    return this.leftovers;
  }

  private leftovers: Promise<void> | undefined;
}

/** The browser's last processes may still be writing into it. What stays is removed at the next start. */
async function removeProfile(profile: string): Promise<void> {
  await rm(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 }).catch(() => {});
}

function isAlive(pid: number): boolean {
  if (pid === process.pid) return true;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
