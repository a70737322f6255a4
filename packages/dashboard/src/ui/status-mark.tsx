/** What became of a call, in the words that stand beside its shape. */
export const STATUS_WORDS: Record<string, string> = {
  running: 'running',
  waiting: 'waits for a person',
  ok: 'ok',
  failed: 'failed',
  refused: 'refused',
  cancelled: 'cancelled',
  unknown: 'unknown',
};

export function StatusMark({ status }: { status: string }) {
  return <span className={`st ${status}`} role="img" aria-label={STATUS_WORDS[status] ?? status} />;
}
