import type { CallDetails } from '@mcpbridge/shared/call-row.js';
import { Link } from '@tanstack/react-router';
import { liveLink } from '../address/address';
import { InertText } from '../text/inert-text';
import { bytes, clock, wholeTime } from '../text/units';
import { CopyButton } from '../ui/copy-button';

export function CallFacts({ call }: { call: CallDetails }) {
  const facts: [string, React.ReactNode][] = [
    [
      'Started',
      <time key="t" title={wholeTime(call.at)} dateTime={new Date(call.at).toISOString()}>
        {clock(call.at)}
      </time>,
    ],
    ['Client', <InertText key="c" text={call.client ?? 'unknown'} />],
    [
      'Session',
      <Link key="s" to={liveLink(`session:${call.session}`) as never}>
        <InertText text={call.session} />
      </Link>,
    ],
    ['Key', <InertText key="p" text={call.principal} />],
    ['Sizes', `${bytes(call.in)} in, ${bytes(call.out ?? 0)} out`],
    ...(call.via ? ([['Made by', call.via]] as [string, React.ReactNode][]) : []),
    ...(call.parent
      ? ([['Within', <CallLink key="pa" id={call.parent} />]] as [string, React.ReactNode][])
      : []),
    ...(call.replayOf
      ? ([['Replay of', <CallLink key="r" id={call.replayOf} />]] as [string, React.ReactNode][])
      : []),
    ...(call.replays?.length
      ? ([['Replayed as', call.replays.map((id) => <CallLink key={id} id={id} />)]] as [
          string,
          React.ReactNode,
        ][])
      : []),
    [
      'Id',
      <span className="row wrap" key="i">
        <code>{call.id}</code>
        <CopyButton text={call.id} />
      </span>,
    ],
  ];
  return (
    <section aria-label="Facts">
      <dl className="facts">
        {facts.map(([name, value]) => [<dt key={`${name}-name`}>{name}</dt>, <dd key={name}>{value}</dd>])}
      </dl>
    </section>
  );
}

function CallLink({ id }: { id: string }) {
  return (
    <Link className="mono call-link" to={`/calls/${id}` as never}>
      {id}
    </Link>
  );
}
