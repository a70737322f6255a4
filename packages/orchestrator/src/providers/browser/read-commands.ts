import { argument, type Command, whereItIs } from './command.js';

/** Those that tell something of the page. */
export const readCommands: Record<string, Command> = {
  snapshot: {
    usage: '[TARGET]',
    async run({ browser, args }) {
      const at = await whereItIs(browser);
      const what = args[0] ? await browser.find(args[0]) : (await browser.page()).locator('body');
      return `${at}\n${await what.ariaSnapshot({ mode: 'ai' })}`;
    },
  },
  screenshot: {
    usage: '[FILE] [full] (FILE: written into the workspace as well)',
    async run({ browser, args, files }) {
      const path = args.find((arg) => arg !== 'full');
      const page = await browser.page();
      const png = await page.screenshot({ fullPage: args.includes('full'), type: 'png' });
      if (path) await files.write(path, png);
      return { text: path ? `Written to ${path}.` : page.url(), png };
    },
  },
  get: {
    usage: 'url|title|html [TARGET] | text|value|count TARGET | attribute TARGET NAME',
    async run({ browser, args }) {
      const what = argument(args, 0, 'what to get');
      const page = await browser.page();
      switch (what) {
        case 'url':
          return page.url();
        case 'title':
          return page.title();
        case 'html':
          return args[1] ? (await browser.find(args[1])).innerHTML() : page.content();
        case 'text':
          // biome-ignore lint/performance/useDomNodeTextContent: what a person would see is wanted
          return (await browser.find(args[1] ?? 'body')).innerText();
        case 'value':
          return (await browser.find(argument(args, 1, 'target'))).inputValue();
        case 'count':
          return String(await (await browser.find(argument(args, 1, 'target'))).count());
        case 'attribute': {
          const target = await browser.find(argument(args, 1, 'target'));
          return (await target.getAttribute(argument(args, 2, 'name'))) ?? '(it has none)';
        }
        default:
          throw new Error(`"${what}" cannot be got: url, title, html, text, value, count, attribute can.`);
      }
    },
  },
  eval: {
    usage: 'EXPRESSION (JavaScript, in the page)',
    async run({ browser, args }) {
      const value: unknown = await (await browser.page()).evaluate(argument(args, 0, 'expression'));
      return JSON.stringify(value, undefined, 2) ?? String(value);
    },
  },
  console: { usage: '', run: async ({ browser }) => lines(browser.console, 'Nothing was logged.') },
  errors: { usage: '', run: async ({ browser }) => lines(browser.errors, 'No page has thrown.') },
  network: { usage: '', run: async ({ browser }) => lines(browser.requests, 'Nothing was requested.') },
  dialogs: { usage: '', run: async ({ browser }) => lines(browser.dialogs, 'There was no dialog.') },
};

function lines(list: readonly string[], none: string): string {
  return list.join('\n') || none;
}
