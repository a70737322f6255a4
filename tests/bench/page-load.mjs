// While 100,000 calls are loaded and 200 more come each second: the frames, the heap, and what a hidden tab costs.
import { setTimeout as pause } from 'node:timers/promises';
import { frames, heap, hide, seenAt, share } from './page-frames.mjs';

/** Longer than the stream of a hidden tab takes to rest. */
const RESTS_AFTER_MS = 4000;

export async function measureLoad(house, calls, seconds) {
  await house.call(0);
  const page = await house.visit();
  await page.locator('.scroller [data-place]').first().waitFor();
  const debug = await page.context().newCDPSession(page);
  await debug.send('Performance.enable');
  const atRest = await frames(page, debug, 5);
  await house.make(calls);
  await eventually(
    () => page.evaluate(() => Number(document.querySelector('[role=grid]').ariaRowCount)),
    calls,
  );
  const loaded = await heap(page);
  const stop = house.flow();
  await pause(1000);
  const busy = await frames(page, debug, seconds);
  const after = await heap(page);
  await page.evaluate(() => document.querySelector('.scroller').scrollTo(0, 50 * 28));
  const scrolled = await frames(page, debug, 5);
  const moved = await movedWhileCut(house, page);
  await page.evaluate(() => document.querySelector('.scroller').scrollTo(0, 0));
  await hide(page, true);
  await pause(RESTS_AFTER_MS);
  // What was thrown away before is not part of being hidden.
  await heap(page);
  const hidden = await share(debug, 10);
  stop();
  await house.call('the last');
  await pause(1000);
  const shown = seenAt(page, '.scroller', 'the last');
  const begun = Date.now();
  await hide(page, false);
  const back = (await shown) - begun;
  await page.context().close();
  return [
    ['at rest: frame p95 ms', atRest.p95],
    ['at rest: main thread %', atRest.share],
    ['frame p50 ms', busy.p50],
    ['2 frame p95 ms', busy.p95, 33],
    ['frame p99 ms', busy.p99],
    ['2 longest task ms', busy.longest, 200],
    ['main thread %', busy.share],
    ['scrolled: frame p95 ms', scrolled.p95, 33],
    [`2 heap MB, ${calls} calls loaded`, loaded, 60],
    ['2 heap MB, afterwards', after, 60],
    ['3 rows that moved while the oldest were cut', moved, 0],
    ['17 hidden tab, main thread %', hidden, 1],
    ['17 hidden tab, caught up after ms', back, 500],
  ];
}

/** The page cuts the oldest above 120,000 calls; who has scrolled down sees the same rows at the same places. */
async function movedWhileCut(house, page) {
  const rows = () =>
    page.evaluate(() =>
      [...document.querySelectorAll('.scroller [data-place]')].map((row) => [
        row.dataset.place,
        Math.round(row.getBoundingClientRect().top),
      ]),
    );
  const before = await rows();
  const size = await page.evaluate(() => Number(document.querySelector('[role=grid]').ariaRowCount));
  await house.make(Math.max(0, 121_000 - size));
  await pause(2000);
  const after = new Map(await rows());
  return before.filter(([place, top]) => after.get(place) !== top).length;
}

async function eventually(value, least) {
  const until = Date.now() + 300_000;
  while ((await value()) < least) {
    if (Date.now() > until) throw new Error(`The page has ${await value()} calls, not ${least}.`);
    await pause(500);
  }
}
