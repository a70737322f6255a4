import type { CallRow } from '@mcpbridge/shared/call-row.js';
import { InertText } from '../text/inert-text';
import { duration } from '../text/units';
import { STATUS_WORDS, StatusMark } from '../ui/status-mark';
import { Elapsed } from './elapsed';

export function CallHeading({ call }: { call: CallRow }) {
  return (
    <div className="grow call-heading">
      <h2 className="row">
        <StatusMark status={call.status} />
        <span className="mono cut">
          <InertText text={[call.server, call.tool].filter(Boolean).join(' · ').slice(0, 300)} />
        </span>
      </h2>
      <p className="dim">
        {STATUS_WORDS[call.status]}
        {', '}
        {call.ms === undefined ? <Elapsed since={call.at} /> : duration(call.ms)}
      </p>
    </div>
  );
}
