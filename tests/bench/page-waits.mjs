// How long it takes until a person sees it: the lines of the page's checklist that name a time.
import { setTimeout as pause } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { frames, quantile, seenAt } from './page-frames.mjs';
import { residentMegabytes } from './processes.mjs';

const ROWS = '.scroller';

export async function measureWaits(house) {
  const agent = await house.bridge('web-app');
  await agent('bare__echo', { text: 'the first' });
  const figures = [];
  for (const measure of [rowsOf, cancelOf, largeResult, approvalsOf, deathOf, firstLoad]) {
    process.stderr.write(`${measure.name} …\n`);
    figures.push(...(await measure(house, agent)));
  }
  return figures;
}

async function firstLoad(house) {
  const took = [];
  let bytes = 0;
  for (let n = 0; n < 5; n++) {
    // A context of its own: nothing is in its cache.
    const page = await house.blank();
    if (n === 0)
      page.on('response', async (response) => {
        if (/\.(js|css)$|\/$/.test(new URL(response.url()).pathname))
          bytes += gzipSync(await response.body()).length;
      });
    const begun = Date.now();
    await page.goto(house.url, { waitUntil: 'commit' });
    took.push((await seenAt(page, `${ROWS} [data-place]`, '')) - begun);
    await page.context().close();
  }
  return [
    ['24 first load, KB gzip', bytes / 1000, 200],
    ['24 rows on screen after ms, median of 5', median(took), 1000],
  ];
}

async function rowsOf(house, agent) {
  const page = await house.visit('/');
  await page.locator(`${ROWS} [data-place]`).first().waitFor();
  const stop = house.flow(30);
  await pause(2000);
  const [ended, running] = [[], []];
  for (let n = 0; n < 60; n++) {
    const seen = seenAt(page, ROWS, `seen ${n}`);
    const begun = Date.now();
    await agent('bare__echo', { text: `seen ${n}` });
    ended.push((await seen) - begun);
  }
  for (let n = 0; n < 10; n++) {
    const seen = seenAt(page, `${ROWS} .running .a`, `"ms":${500 + n}\\b`);
    const begun = Date.now();
    const call = agent('bare__slow', { ms: 500 + n });
    running.push((await Promise.race([seen, call.then(() => Number.POSITIVE_INFINITY)])) - begun);
    await call;
  }
  stop();
  await page.context().close();
  return [
    ['1 call made → row, at 30 calls/s, p50 ms', median(ended)],
    ['1 call made → row, at 30 calls/s, p95 ms', quantile(ended.sort(up), 0.95), 200],
    ['1 call made → row that runs, the slowest of 10, ms', Math.max(...running), 200],
  ];
}

async function cancelOf(house, agent) {
  const took = [];
  for (let n = 0; n < 5; n++) {
    const call = agent('features__hang').catch(() => undefined);
    const page = await house.visit('/?q=tool:hang');
    await page.locator('[data-place].running').first().click();
    const button = page.getByRole('button', { name: 'Cancel', exact: true });
    await button.waitFor();
    const seen = seenAt(page, `${ROWS} [data-place].open.cancelled`, '');
    const begun = Date.now();
    await button.click();
    took.push((await seen) - begun);
    await call;
    await page.context().close();
  }
  return [['9 Cancel → row cancelled, the slowest of 5, ms', Math.max(...took), 1000]];
}

async function approvalsOf(house) {
  await house.send('POST', '/api/sessions', { id: 'guarded', tools: { approve: ['bare__*'] } });
  const guarded = await house.bridge('guarded');
  const [cards, header] = [await house.visit('/approvals'), await house.visit('/stats')];
  const [onCards, inHeader, told] = [[], [], []];
  for (let n = 0; n < 10; n++) {
    const seen = Promise.all([seenAt(cards, 'article', `may I ${n}(?!\\d)`), seenAt(header, '.waits', '1')]);
    const begun = Date.now();
    const call = guarded('bare__echo', { text: `may I ${n}` });
    const [card, bar] = await seen;
    onCards.push(card - begun);
    inHeader.push(bar - begun);
    const gone = header.waitForFunction(() => !document.querySelector('.waits')).then(() => Date.now());
    const { proposals } = JSON.parse(await house.send('GET', '/api/proposals'));
    const decided = Date.now();
    await house.send('POST', `/api/proposals/${proposals[0].id}`, { accept: true });
    told.push((await gone) - decided);
    await call;
  }
  await Promise.all([cards.context().close(), header.context().close()]);
  return [
    ['12 call waits → its card, the slowest of 10, ms', Math.max(...onCards), 200],
    ['12 call waits → header of another browser, ms', Math.max(...inHeader), 200],
    ['12 decided → told to another browser, ms', Math.max(...told)],
  ];
}

async function largeResult(house, agent) {
  await agent('page__json', { megabytes: 10 });
  const page = await house.visit('/?q=tool:json');
  const debug = await page.context().newCDPSession(page);
  await debug.send('Performance.enable');
  await page.locator(`${ROWS} [data-place]`).first().click();
  const load = page.getByRole('button', { name: /^Load .*MB/ });
  await load.waitFor();
  const seen = seenAt(page, '[role=tree]', 'found me');
  const begun = Date.now();
  await load.click();
  const opened = (await seen) - begun;
  const pids = await page.context().browser().newBrowserCDPSession();
  const stop = house.flow();
  const list = await frames(page, debug, 5);
  const find = page.getByLabel('Find in text, which is json');
  const found = seenAt(page, '[role=tree] .hit', 'row 99000');
  const asked = Date.now();
  await find.fill('row 99000');
  const search = (await found) - asked;
  stop();
  const { processInfo } = await pids.send('SystemInfo.getProcessInfo');
  const sizes = processInfo.filter(({ type }) => type === 'renderer').map(({ id }) => residentMegabytes(id));
  await page.context().close();
  return [
    ['11 10 MB: [Load] → its tree, ms', opened, 500],
    ['11 10 MB: list beside it, frame p95 ms', list.p95, 33],
    ['11 10 MB: words → found, ms', search],
    ['11 10 MB: the tab, MB resident', Math.max(...sizes), 400],
  ];
}

async function deathOf(house) {
  await house.send('POST', '/tools/mcp/mortal/echo', { text: 'it runs' });
  const page = await house.visit('/servers');
  await page.getByRole('link', { name: 'mortal', exact: true }).waitFor();
  const seen = seenAt(page, 'tr', 'SIGKILL.*Tried again[^]*mortal');
  const begun = Date.now();
  house.kill();
  const took = (await seen) - begun;
  await page.context().close();
  return [['18 server killed → its reason and next try, ms', took, 2000]];
}

const up = (a, b) => a - b;
const median = (values) => quantile([...values].sort(up), 0.5);
