/**
 * Runs tasks, at most so many at once, and tells what they tell as it comes. Rejects with the first failure, when all that
 * had begun has ended.
 */
export async function* merged<Told>(
  tasks: readonly ((tell: (told: Told) => void) => Promise<void>)[],
  atOnce: number,
): AsyncGenerator<Told> {
  const told: Told[] = [];
  let wake = () => {};
  const tell = (one: Told) => {
    told.push(one);
    wake();
  };
  const left = [...tasks];
  const failures: unknown[] = [];
  const work = async () => {
    for (let task = left.shift(); task && failures.length === 0; task = left.shift()) {
      await task(tell).catch((thrown) => failures.push(thrown));
    }
  };
  let isOver = false;
  const all = Promise.all(Array.from({ length: Math.min(atOnce, tasks.length) }, work)).then(() => {
    isOver = true;
    wake();
  });
  for (;;) {
    const next = told.shift();
    if (next !== undefined) yield next;
    else if (isOver) break;
    else await new Promise<void>((resolve) => (wake = resolve));
  }
  await all;
  if (failures.length > 0) throw failures[0];
}
