// The dashboard in a real browser. `npm run bench:page [calls] [seconds]` prints what it costs while calls come and how
// long a person waits for what, each beside its budget; a missed one ends it with 1. The number before a name is the line of the page's checklist.
import { loadavg } from 'node:os';
import { openHouse } from './page-house.mjs';
import { measureLoad } from './page-load.mjs';
import { measureWaits } from './page-waits.mjs';

const calls = Number(process.argv[2] ?? 100_000);
const seconds = Number(process.argv[3] ?? 20);
const house = await openHouse();
try {
  show('How long a person waits', await measureWaits(house));
  if (calls > 0) show(`At 200 calls/s`, await measureLoad(house, calls, seconds));
} finally {
  await house.close();
}

function show(title, figures) {
  console.log(`${title}; ${loadavg()[0]} processes want to run`);
  const rounded = (value) => (value === undefined ? '' : Math.round(value * 10) / 10);
  console.table(
    Object.fromEntries(
      figures.map(([name, value, budget]) => [
        name,
        {
          measured: rounded(value),
          budget: budget === undefined ? '' : `≤ ${budget}`,
          '': isMissed(value, budget) ? 'MISSED' : '',
        },
      ]),
    ),
  );
  if (figures.some(([, value, budget]) => isMissed(value, budget))) process.exitCode = 1;
}

function isMissed(value, budget) {
  return budget !== undefined && !(value <= budget);
}
