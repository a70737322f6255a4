export interface Trend {
  /** Growth from one value to the next. */
  slope: number;
  /** By how much that may be chance: its standard error. */
  error: number;
}

/** The straight line through values that were taken at equal distances. */
export function trendOf(values: readonly number[]): Trend {
  const count = values.length;
  const middle = (count - 1) / 2;
  const mean = values.reduce((sum, value) => sum + value, 0) / count;
  let across = 0;
  let along = 0;
  values.forEach((value, at) => {
    across += (at - middle) * (value - mean);
    along += (at - middle) ** 2;
  });
  const slope = across / along;
  const rest = values.reduce((sum, value, at) => sum + (value - mean - slope * (at - middle)) ** 2, 0);
  return { slope, error: Math.sqrt(rest / (count - 2) / along) };
}
