/** Those of RFC 5424, as the protocol names them, the least first. */
const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'];

/** False also where one of them is no level that is known: nothing is held back for that. */
export function isBelow(level: unknown, least: unknown): boolean {
  const [rank, leastRank] = [level, least].map((name) => LEVELS.indexOf(String(name)));
  return rank !== undefined && leastRank !== undefined && rank >= 0 && rank < leastRank;
}
