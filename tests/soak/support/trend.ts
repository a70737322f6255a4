export interface Trend {
  /** Growth per second. */
  slope: number;
  /** By how much that may be chance: its standard error. */
  error: number;
}

/** The straight line through values that were taken once a second. */
export function trendOf(values: readonly number[]): Trend {
  const count = values.length;
  const middle = (count - 1) / 2;
  const mean = values.reduce((sum, value) => sum + value, 0) / count;
  let across = 0;
  let along = 0;
  values.forEach((value, second) => {
    across += (second - middle) * (value - mean);
    along += (second - middle) ** 2;
  });
  const slope = across / along;
  const rest = values.reduce(
    (sum, value, second) => sum + (value - mean - slope * (second - middle)) ** 2,
    0,
  );
  return { slope, error: Math.sqrt(rest / (count - 2) / along) };
}
