/** By then the start is over, for which a growing heap is faster. */
const AFTER_MS = 500;

/**
 * Keeps V8's space for young objects at the size that the start has left it. It would double with use up to 32 MB,
 * which a bridge, of which every agent has its own, gains nothing from.
 */
export function keepHeapSmall(): void {
  const flag = '--semi-space-growth-factor=1';
  setTimeout(() => process.getBuiltinModule('node:v8').setFlagsFromString(flag), AFTER_MS).unref();
}
