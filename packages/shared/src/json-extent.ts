/** Levels of one message; JSON of people has a dozen, and what walks through it or writes it has a stack to lose. */
export const MAX_DEPTH = 512;

/** True for a value of more than so many levels. */
export function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) return value.some((item) => isDeeperThan(item, levels - 1));
  return Object.values(value).some((item) => isDeeperThan(item, levels - 1));
}

/** Characters in JSON; infinite for what is too deep to be written. */
export function lengthOf(value: unknown): number {
  return isDeeperThan(value, MAX_DEPTH) ? Number.POSITIVE_INFINITY : (JSON.stringify(value) ?? '').length;
}
