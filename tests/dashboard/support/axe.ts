import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { root } from '../../support/processes.js';

const axe = readFileSync(`${root}/node_modules/axe-core/axe.min.js`, 'utf8');

/** Findings of axe, of any weight; put in by the debugger, since the CSP stops a script element. */
export async function findings(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  return page.evaluate(async () => {
    // What fades in has other colours while it does.
    const ending = document
      .getAnimations()
      .filter(({ effect }) => effect?.getComputedTiming().endTime !== Infinity);
    await Promise.allSettled(ending.map(({ finished }) => finished));
    const { violations } = await (
      window as unknown as {
        axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
      }
    ).axe.run();
    return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 160)}`));
  });
}
