import { basename } from 'node:path';
import { argument, type Command, whereItIs } from './command.js';

const MAX_WAIT_MS = 60_000;
const SCROLL = 600;

/** Those that do something to the page. */
export const pageCommands: Record<string, Command> = {
  open: {
    usage: 'URL',
    async run({ browser, args, check }) {
      const given = argument(args, 0, 'address');
      const url = hasScheme(given) ? given : `https://${given}`;
      await check(url);
      const answer = await (await browser.page()).goto(url, { waitUntil: 'domcontentloaded' });
      const status = answer && answer.status() >= 400 ? `\nThe server answered ${answer.status()}.` : '';
      return (await whereItIs(browser)) + status;
    },
  },
  click: {
    usage: 'TARGET [left|right|middle|double]',
    async run({ browser, args }) {
      const target = await browser.find(argument(args, 0, 'target'));
      const button = args[1];
      if (button === 'double') await target.dblclick();
      else await target.click(button === 'right' || button === 'middle' ? { button } : {});
      return whereItIs(browser);
    },
  },
  fill: {
    usage: 'TARGET TEXT',
    async run({ browser, args }) {
      await (await browser.find(argument(args, 0, 'target'))).fill(args[1] ?? '');
      return whereItIs(browser);
    },
  },
  type: {
    usage: 'TARGET TEXT',
    async run({ browser, args }) {
      await (await browser.find(argument(args, 0, 'target'))).pressSequentially(argument(args, 1, 'text'));
      return whereItIs(browser);
    },
  },
  press: {
    usage: 'KEY [TARGET]',
    async run({ browser, args }) {
      const key = argument(args, 0, 'key');
      if (args[1]) await (await browser.find(args[1])).press(key);
      else await (await browser.page()).keyboard.press(key);
      return whereItIs(browser);
    },
  },
  select: {
    usage: 'TARGET VALUE…',
    async run({ browser, args }) {
      const chosen = await (await browser.find(argument(args, 0, 'target'))).selectOption(args.slice(1));
      return `Chosen: ${chosen.join(', ')}`;
    },
  },
  hover: {
    usage: 'TARGET',
    async run({ browser, args }) {
      await (await browser.find(argument(args, 0, 'target'))).hover();
      return whereItIs(browser);
    },
  },
  scroll: {
    usage: 'up|down|TARGET [PIXELS]',
    async run({ browser, args }) {
      const where = argument(args, 0, 'direction or target');
      const pixels = Number(args[1] ?? SCROLL);
      if (where === 'up' || where === 'down')
        await (await browser.page()).mouse.wheel(0, where === 'up' ? -pixels : pixels);
      else await (await browser.find(where)).scrollIntoViewIfNeeded();
      return whereItIs(browser);
    },
  },
  upload: {
    usage: 'TARGET FILE… (of the workspace)',
    async run({ browser, args, files }) {
      const target = await browser.find(argument(args, 0, 'target'));
      const chosen = await Promise.all(
        args.slice(1).map(async (path) => ({
          name: basename(path),
          mimeType: 'application/octet-stream',
          buffer: await files.read(path),
        })),
      );
      await target.setInputFiles(chosen);
      return `Given: ${chosen.map(({ name }) => name).join(', ')}`;
    },
  },
  download: {
    usage: 'TARGET FILE (clicks, and writes what comes into the workspace)',
    async run({ browser, args, files }) {
      const target = await browser.find(argument(args, 0, 'target'));
      const path = argument(args, 1, 'file');
      const [download] = await Promise.all([(await browser.page()).waitForEvent('download'), target.click()]);
      const parts: Buffer[] = [];
      for await (const part of await download.createReadStream()) parts.push(part as Buffer);
      const bytes = Buffer.concat(parts);
      await files.write(path, bytes);
      await download.delete();
      return `${path}: ${bytes.length} bytes, which the server called ${download.suggestedFilename()}`;
    },
  },
  wait: {
    usage: 'MILLISECONDS|load|networkidle|TARGET',
    async run({ browser, args }) {
      const what = argument(args, 0, 'time or target');
      const page = await browser.page();
      if (/^\d+$/.test(what)) await page.waitForTimeout(Math.min(Number(what), MAX_WAIT_MS));
      else if (what === 'load' || what === 'networkidle') await page.waitForLoadState(what);
      else await (await browser.find(what)).first().waitFor();
      return whereItIs(browser);
    },
  },
  back: {
    usage: '',
    async run({ browser }) {
      await (await browser.page()).goBack();
      return whereItIs(browser);
    },
  },
  forward: {
    usage: '',
    async run({ browser }) {
      await (await browser.page()).goForward();
      return whereItIs(browser);
    },
  },
  reload: {
    usage: '',
    async run({ browser }) {
      await (await browser.page()).reload();
      return whereItIs(browser);
    },
  },
  tab: {
    usage: '[new [URL]|NUMBER|close [NUMBER]]',
    async run({ browser, args, check }) {
      const [what = '', more] = args;
      if (what === 'new') {
        if (more) await check(more);
        const page = await browser.newPage();
        if (more) await page.goto(more, { waitUntil: 'domcontentloaded' });
      } else if (what === 'close') {
        await (more ? numbered(browser.pages, more) : await browser.page()).close();
      } else if (what) {
        browser.show(numbered(browser.pages, what));
      }
      const current = browser.pages.length > 0 ? await browser.page() : undefined;
      const lines = browser.pages.map((page, at) => `${page === current ? '*' : ' '}${at + 1} ${page.url()}`);
      return lines.join('\n') || 'No tab is open.';
    },
  },
};

/** `example.org:8443` and `localhost:3000` have none. */
function hasScheme(address: string): boolean {
  return /^[a-z][a-z0-9+.-]*:/i.test(address) && !/^(localhost|[\w-]+(\.[\w-]+)+):\d+(\/|$)/i.test(address);
}

function numbered<T>(pages: readonly T[], number: string): T {
  const page = pages[Number(number) - 1];
  if (page) return page;
  throw new Error(`There is no tab ${number}; there are ${pages.length}.`);
}
