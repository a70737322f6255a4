/** True when a JSON value has at most about so many characters; looks no further than that. */
export function isWithin(value: unknown, characters: number): boolean {
  return remaining(value, characters, 64) >= 0;
}

/** What is left of the characters; below 0 they did not suffice. What is nested very deep counts as too long. */
function remaining(value: unknown, characters: number, depth: number): number {
  if (typeof value === 'string') return characters - value.length - 2;
  if (typeof value !== 'object' || value === null) return characters - 8;
  if (depth === 0) return -1;
  let left = characters - 2;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length && left >= 0; index += 1)
      left = remaining(value[index], left, depth - 1) - 1;
    return left;
  }
  for (const name in value) {
    left = remaining((value as Record<string, unknown>)[name], left - name.length - 4, depth - 1);
    if (left < 0) return left;
  }
  return left;
}
