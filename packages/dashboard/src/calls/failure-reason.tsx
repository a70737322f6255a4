import type { CallRow } from '@mcpbridge/shared/call-row.js';
import { Link } from '@tanstack/react-router';
import { liveLink } from '../address/address';
import { InertText } from '../text/inert-text';
import { isBad } from './call';
import { NEXT_STEPS, RETRYABLE } from './next-steps';

/** Code, layer, a sentence and a next step. */
export function FailureReason({ call, message }: { call: CallRow; message: string | undefined }) {
  if (!isBad(call) && call.status !== 'cancelled') return null;
  const { code = 'UNKNOWN', layer } = call;
  const next = NEXT_STEPS[code];
  const alike = `server:${call.server} tool:${call.tool} code:${code}`;
  return (
    <section
      className={`note ${call.status === 'refused' ? 'deny' : call.status === 'failed' ? 'err' : ''}`}
      aria-label="Why"
    >
      <p>
        <strong className="mono">{code}</strong>
        {layer ? `, layer ${layer}` : ''}
        {RETRYABLE.has(code) ? ', may be retried' : ''}
      </p>
      <p className="reason">
        <InertText text={message ?? call.error ?? 'It said nothing more.'} />
      </p>
      {next ? <p className="dim">{next}</p> : null}
      <p>
        <Link to={liveLink(alike) as never}>Failures like this</Link>
      </p>
    </section>
  );
}
