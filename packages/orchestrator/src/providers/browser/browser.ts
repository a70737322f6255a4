import { messageOf } from '@mcpbridge/shared/errors.js';
import type { BrowserContext, Dialog, Download, Locator, Page } from './chromium.js';

const ACTION_MS = 10_000;
const NAVIGATION_MS = 30_000;
const KEPT = 200;
const MAX_PAGES = 20;

/** One browser of a session, and what its pages have said. */
export class Browser {
  /** Newest last, of all pages. */
  readonly console: string[] = [];
  readonly errors: string[] = [];
  readonly requests: string[] = [];
  readonly dialogs: string[] = [];
  readonly downloads: Download[] = [];
  private current: Page | undefined;
  private last: Promise<unknown> = Promise.resolve();

  constructor(private readonly context: BrowserContext) {
    context.setDefaultTimeout(ACTION_MS);
    context.setDefaultNavigationTimeout(NAVIGATION_MS);
    for (const page of context.pages()) this.adopt(page);
    context.on('page', (page) => this.adopt(page));
  }

  /** One command after the other. */
  inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.last.then(work, work);
    this.last = turn.catch(() => {});
    return turn;
  }

  get pages(): Page[] {
    return this.context.pages();
  }

  /** The page that commands are about; one opens when there is none. */
  async page(): Promise<Page> {
    if (!this.current || this.current.isClosed()) this.current = this.pages.at(-1) ?? (await this.newPage());
    return this.current;
  }

  async newPage(): Promise<Page> {
    if (this.pages.length >= MAX_PAGES)
      throw new Error(`There are ${MAX_PAGES} tabs already: close one first.`);
    this.current = await this.context.newPage();
    return this.current;
  }

  show(page: Page): void {
    this.current = page;
  }

  /** By a ref of a snapshot (`e12`, `@e12`), else by a selector: CSS, `text=…`, `role=button[name="Save"]`. */
  async find(target: string): Promise<Locator> {
    const ref = /^@?((?:f\d+)?e\d+)$/.exec(target)?.[1];
    return (await this.page()).locator(ref ? `aria-ref=${ref}` : target);
  }

  close(): Promise<void> {
    return this.context.close();
  }

  onGone(listener: () => void): void {
    this.context.on('close', listener);
  }

  private adopt(page: Page): void {
    // One that a page opens is where the user would be looking.
    this.current = page;
    page.on('console', (message) => keep(this.console, `[${message.type()}] ${message.text()}`));
    page.on('pageerror', (error) => keep(this.errors, messageOf(error)));
    page.on('requestfailed', (request) =>
      keep(
        this.requests,
        `${request.method()} ${request.url()} failed: ${request.failure()?.errorText ?? ''}`,
      ),
    );
    page.on('response', (response) =>
      keep(this.requests, `${response.request().method()} ${response.url()} ${response.status()}`),
    );
    page.on('dialog', (dialog) => this.answer(dialog));
    page.on('download', (download) => keep(this.downloads, download));
  }

  /** Nobody looks at it, and the page waits for it. */
  private answer(dialog: Dialog): void {
    keep(this.dialogs, `${dialog.type()}: ${dialog.message()} (accepted)`);
    dialog.accept().catch(() => {});
  }
}

function keep<T>(list: T[], one: T): void {
  list.push(one);
  if (list.length > KEPT) list.shift();
}
