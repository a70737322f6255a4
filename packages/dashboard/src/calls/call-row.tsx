import type { CallRow as Call } from '@mcpbridge/shared/call-row.js';
import { memo } from 'react';
import { inert } from '../text/inert';
import { bytes, clock, duration } from '../text/units';
import { STATUS_WORDS } from '../ui/status-mark';

interface CallRowProps {
  call: Call;
  place: number;
  isActive: boolean;
  isOpen: boolean;
  isMarked: boolean;
  /** Calls that it stands for. */
  many: number;
  /** Milliseconds since its start, of one that runs; changes four times a second. */
  elapsed: number | undefined;
}

/** As lean as a row can be: one element a cell, one text in each; the bar is a background. */
export const CallRow = memo(function CallRow(props: CallRowProps) {
  const { call, place, isActive, isOpen, isMarked, many, elapsed } = props;
  const took = call.ms ?? elapsed;
  const name = `r ${call.status}${isOpen ? ' open' : ''}${isActive ? ' active' : ''}${isMarked ? ' marked' : ''}`;
  return (
    <div
      role="row"
      id={`call-${place}`}
      className={name}
      data-place={place}
      aria-selected={isOpen || isMarked}
    >
      <span className={`st ${call.status}`} role="gridcell" aria-label={STATUS_WORDS[call.status]} />
      <span className="t" role="gridcell">
        {clock(call.at)}
      </span>
      <span className="s" role="gridcell">
        {sessionName(call)}
      </span>
      <span className="tool" role="gridcell">
        {many > 1 ? `${toolName(call)}   ×${many}` : toolName(call)}
      </span>
      <span className="a" role="gridcell">
        {reasonOrArguments(call)}
      </span>
      <span className="d" role="gridcell" style={barOf(took)}>
        {took === undefined ? '' : call.status === 'waiting' ? `waits ${duration(took)}` : duration(took)}
      </span>
      <span className="z" role="gridcell">
        {call.ms === undefined ? '' : bytes(call.out ?? 0)}
      </span>
    </div>
  );
});

export function sessionName({
  client = '',
  project,
  session,
}: Pick<Call, 'client' | 'project' | 'session'>): string {
  const name = client.replace(/[ /]\d[\w.-]*$/, '');
  return inert([name, project || (name ? '' : session)].filter(Boolean).join(' · ') || session).slice(0, 120);
}

export function toolName({ server, tool, parent }: Call): string {
  return inert(`${parent ? '↳ ' : ''}${server ? `${server} · ` : ''}${tool}`).slice(0, 160);
}

function reasonOrArguments(call: Call): string {
  const reason = [call.code, call.error].filter(Boolean).join('  ');
  return inert((call.status === 'failed' || call.status === 'refused') && reason ? reason : call.args).slice(
    0,
    200,
  );
}

/** On a log scale: 1 ms is a hair, 100 s all of it. */
function barOf(ms: number | undefined): React.CSSProperties {
  const share = ms === undefined ? 0 : Math.min(1, Math.log10(Math.max(1, ms)) / 5);
  return { backgroundSize: `${Math.round(share * 100)}% 4px` };
}
