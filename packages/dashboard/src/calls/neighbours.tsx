import type { CallRow } from '@mcpbridge/shared/call-row.js';
import { Link } from '@tanstack/react-router';
import { liveLink } from '../address/address';

/** The way to what the session did before and after. */
export function Neighbours({ call }: { call: CallRow }) {
  const around = 2 * 60_000;
  const range = `${new Date(call.at - around).toISOString()}..${new Date(call.at + around).toISOString()}`;
  return (
    <p className="dim">
      <Link to={liveLink(`session:${call.session}`, { t: range, call: call.id }) as never}>
        What its session did two minutes before and after
      </Link>
    </p>
  );
}
