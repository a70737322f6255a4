// What the page does with its time: frames, long tasks, the main thread's share.
import { setTimeout as pause } from 'node:timers/promises';

/** Gaps between frames, the longest task and the share of the main thread, for so many seconds. */
export async function frames(page, debug, seconds) {
  const from = await spent(debug);
  const seen = await page.evaluate(
    (ms) =>
      new Promise((done) => {
        const gaps = [];
        let longest = 0;
        const tasks = new PerformanceObserver((list) => {
          for (const { duration } of list.getEntries()) longest = Math.max(longest, duration);
        });
        tasks.observe({ type: 'longtask' });
        const begun = performance.now();
        let last = begun;
        const tick = (now) => {
          gaps.push(now - last);
          last = now;
          if (now - begun < ms) return requestAnimationFrame(tick);
          tasks.disconnect();
          done({ gaps, longest });
        };
        requestAnimationFrame(tick);
      }),
    seconds * 1000,
  );
  const sorted = seen.gaps.slice(1).sort((a, b) => a - b);
  const used = ((await spent(debug)) - from) / seconds;
  const at = (share) => quantile(sorted, share);
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99), longest: seen.longest, share: used * 100 };
}

export const quantile = (sorted, share) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];

/** Percent of the main thread, with nothing of ours running in the page. */
export async function share(debug, seconds) {
  const from = await spent(debug);
  await pause(seconds * 1000);
  return (((await spent(debug)) - from) / seconds) * 100;
}

/** Seconds that the page's main thread has worked. */
async function spent(debug) {
  const { metrics } = await debug.send('Performance.getMetrics');
  return metrics.find(({ name }) => name === 'TaskDuration').value;
}

export async function heap(page) {
  return page.evaluate(() => {
    globalThis.gc?.();
    return performance.memory.usedJSHeapSize / 1024 / 1024;
  });
}

/**
 * A headless browser's tabs are all in front: the page is told otherwise, and nothing of it is drawn, as nothing of a
 * hidden tab is.
 */
export function hide(page, isHidden) {
  return page.evaluate((value) => {
    Object.defineProperty(document, 'hidden', { configurable: true, get: () => value });
    const state = value ? 'hidden' : 'visible';
    Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => state });
    document.documentElement.style.display = value ? 'none' : '';
    document.dispatchEvent(new Event('visibilitychange'));
  }, isHidden);
}

/**
 * When the words are in an element, by the clock that the bench has too; looked for once a frame, within the page.
 * Infinity: not within 15 s.
 */
export async function seenAt(page, selector, words) {
  const at = await page.evaluate(
    ([where, what]) =>
      new Promise((done) => {
        const pattern = new RegExp(what);
        const until = Date.now() + 15_000;
        const look = () => {
          const found = [...document.querySelectorAll(where)].some(({ textContent }) =>
            pattern.test(textContent),
          );
          if (found || Date.now() > until) done(found ? Date.now() : undefined);
          else requestAnimationFrame(look);
        };
        look();
      }),
    [selector, words],
  );
  return at ?? Number.POSITIVE_INFINITY;
}
