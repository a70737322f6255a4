/** `t=` of the address: live, the last so much, or from one time to another. */
export type Range =
  | { kind: 'live' }
  | { kind: 'last'; text: string; ms: number }
  | { kind: 'between'; from: number; to: number }
  | { kind: 'wrong'; text: string };

export const SPANS: Record<string, { ms: number; label: string }> = {
  '15m': { ms: 15 * 60_000, label: 'Last 15 minutes' },
  '1h': { ms: 3_600_000, label: 'Last hour' },
  '24h': { ms: 86_400_000, label: 'Last 24 hours' },
  '7d': { ms: 7 * 86_400_000, label: 'Last 7 days' },
};

export function readRange(text: string | undefined): Range {
  if (text === undefined || text === '' || text === 'live') return { kind: 'live' };
  const span = SPANS[text];
  if (span) return { kind: 'last', text, ms: span.ms };
  const [from = Number.NaN, to = Number.NaN] = text.split('..').map((part) => Date.parse(part));
  if (Number.isNaN(from) || Number.isNaN(to)) return { kind: 'wrong', text };
  return { kind: 'between', from, to };
}

export function writeRange(from: number, to: number): string {
  return `${new Date(from).toISOString()}..${new Date(to).toISOString()}`;
}

/** As the query of `GET /api/calls` has it. */
export function rangeBounds(range: Range, now = Date.now()): Record<string, string> {
  if (range.kind === 'last') return { since: new Date(now - range.ms).toISOString() };
  if (range.kind !== 'between') return {};
  return { since: new Date(range.from).toISOString(), until: new Date(range.to).toISOString() };
}

export function rangeLabel(range: Range): string {
  if (range.kind === 'last') return SPANS[range.text]?.label ?? range.text;
  if (range.kind === 'between') {
    const short = (at: number) =>
      new Date(at).toLocaleString('en-GB', {
        day: 'numeric',
        month: 'short',
        hour: '2-digit',
        minute: '2-digit',
      });
    return `${short(range.from)} – ${short(range.to)}`;
  }
  return range.kind === 'wrong' ? `“${range.text}”` : 'Live';
}
