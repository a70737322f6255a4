import type { Browser } from './browser.js';

/** Files of the session's workspace, under its guard. */
export interface SessionFiles {
  read(path: string): Promise<Buffer>;
  write(path: string, bytes: Buffer): Promise<void>;
}

export interface Given {
  browser: Browser;
  args: readonly string[];
  files: SessionFiles;
  /** Rejects with a sentence for an address that the browser may not open. */
  check(url: string): Promise<void>;
}

/** What a command answers: text, and a picture where it is about one. */
export interface Said {
  text: string;
  png?: Buffer;
}

export interface Command {
  /** With what it is given; `[…]` may be absent. */
  usage: string;
  run(given: Given): Promise<Said | string>;
}

/** @throws when it is missing */
export function argument(args: readonly string[], at: number, name: string): string {
  const value = args[at];
  if (value !== undefined && value !== '') return value;
  throw new Error(`The ${name} is missing: give it as args[${at}].`);
}

export async function whereItIs(browser: Browser): Promise<string> {
  const page = await browser.page();
  return `${page.url()}\n${await page.title()}`.trim();
}
