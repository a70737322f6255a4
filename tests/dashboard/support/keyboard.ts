import type { Locator, Page } from 'playwright-core';

/** More than any view has to go through. */
const MOST_STOPS = 120;

/** A person without a pointer, who looks where the focus is at each stop. */
export class Keyboard {
  /** Stops at which the focus could not be seen. */
  readonly unseen: string[] = [];

  constructor(private readonly page: Page) {}

  async press(...keys: string[]): Promise<void> {
    for (const key of keys) await this.page.keyboard.press(key);
  }

  write(text: string): Promise<void> {
    return this.page.keyboard.insertText(text);
  }

  /** By Tab, or backwards, until it has the focus. */
  async to(target: Locator, key: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> {
    await target.waitFor();
    for (let stop = 0; stop < MOST_STOPS; stop++) {
      await this.press(key);
      const fault = await this.page.evaluate(faultOfFocus);
      if (fault && !this.unseen.includes(fault)) this.unseen.push(fault);
      if (await target.evaluate((element) => element.matches(':focus'))) return;
    }
    throw new Error(`${target} is not reached by ${key}.`);
  }

  /** There, and Enter. */
  async choose(target: Locator): Promise<void> {
    await this.to(target);
    await this.press('Enter');
  }
}

/** In the page: the element that has the focus where it is not marked, off the screen, or below something else. */
function faultOfFocus(): string | undefined {
  let root: Document | ShadowRoot = document;
  while (root.activeElement?.shadowRoot) root = root.activeElement.shadowRoot;
  const element = root.activeElement;
  if (!element || element === document.body) return undefined; // Between the page and the browser's own parts.
  const name = element.outerHTML.slice(0, 120);
  const isMarked = (each: Element) => {
    const { outlineStyle, outlineWidth } = getComputedStyle(each);
    return outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 2;
  };
  const around: Element[] = [];
  for (let each: Node | null = element; each; each = each instanceof ShadowRoot ? each.host : each.parentNode)
    if (each instanceof Element) around.push(each);
  if (!around.some(isMarked)) return `not marked: ${name}`;
  const { left, right, top, bottom } = element.getBoundingClientRect();
  const x = (Math.max(0, left) + Math.min(innerWidth, right)) / 2;
  const y = (Math.max(0, top) + Math.min(innerHeight, bottom)) / 2;
  const seen = root.elementFromPoint(x, y);
  if (!seen) return `off the screen: ${name}`;
  return element.contains(seen) || seen.contains(element)
    ? undefined
    : `covered: ${name} by ${seen.outerHTML.slice(0, 120)}`;
}
