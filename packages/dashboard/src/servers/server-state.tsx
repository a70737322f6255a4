import type { ServerSummary } from './use-servers';

/** Shape and tone of a state; the word is the state itself. */
const LOOKS: Record<string, [string, string]> = {
  ready: ['ok', ''],
  starting: ['running', 'run-text'],
  degraded: ['waiting', 'wait-text'],
  failed: ['failed', 'err-text'],
  faulty: ['failed', 'err-text'],
  stopped: ['cancelled', 'dim'],
  disabled: ['cancelled', 'dim'],
};

export function ServerState({ server }: { server: ServerSummary }) {
  const [mark, tone] = LOOKS[server.state] ?? ['unknown', 'dim'];
  return (
    <span className={`state ${tone}`}>
      <span className={`st ${mark}`} aria-hidden />
      {server.state}
    </span>
  );
}
