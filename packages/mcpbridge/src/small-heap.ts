/** By then the start is over, for which a growing heap is faster. */
const AFTER_MS = 500;

/**
 * `--semi-space-growth-factor=1` keeps V8's space for young objects at the size that the start has left it: it would double
 * with use up to 32 MB, which a bridge, of which every agent has its own, gains nothing from. So small a space is
 * collected sooner than other threads have come to help, for whom a busy bridge would only wait.
 */
const FLAGS = ['--semi-space-growth-factor=1', '--no-parallel-scavenge'];

export function keepHeapSmall(): void {
  const set = () => {
    for (const flag of FLAGS) process.getBuiltinModule('node:v8').setFlagsFromString(flag);
  };
  setTimeout(set, AFTER_MS).unref();
}
