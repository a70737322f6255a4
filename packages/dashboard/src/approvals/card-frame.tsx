import { Link } from '@tanstack/react-router';
import { type ReactNode, useEffect, useState } from 'react';
import { liveLink } from '../address/address';
import { useFeed } from '../calls/feeds';
import { InertText } from '../text/inert-text';
import { relative } from '../text/units';
import type { Card, Ending } from './use-cards';

const WORDS: Record<Ending, string> = {
  accepted: 'approved',
  rejected: 'denied',
  expired: 'expired without an answer, so denied',
  withdrawn: 'withdrawn: its caller went away',
  gone: 'decided elsewhere',
};

interface CardFrameProps {
  card: Card;
  title: ReactNode;
  tags?: ReactNode;
  onDismiss(id: string): void;
  children: ReactNode;
}

/** Who asks, until when, and, once it is over, how it ended; always in the same place. */
export function CardFrame({ card, title, tags, onDismiss, children }: CardFrameProps) {
  const { proposal, ended } = card;
  return (
    <article
      className={`box card${ended ? ' ended' : ''}`}
      aria-label={`${proposal.server} ${proposal.tool}`}
    >
      <header className="row wrap">
        <span
          className={`st ${ended ? (ended.how === 'accepted' ? 'ok' : 'refused') : 'waiting'}`}
          aria-hidden
        />
        <h2 className="grow">{title}</h2>
        {tags}
        {ended ? null : <Countdown to={Date.parse(proposal.expiresAt)} />}
      </header>
      <p className="dim row wrap">
        <span>
          <InertText text={proposal.client ?? 'a client that gave no name'} /> · session{' '}
          <InertText text={proposal.sessionId} /> · key “{proposal.principal}”
        </span>
        <Link to={liveLink(`session:${proposal.sessionId}`) as never}>its last calls</Link>
      </p>
      {children}
      {ended ? (
        <p className="row wrap" role="status">
          <strong className="grow">
            {WORDS[ended.how]}
            {ended.by ? ` by ${ended.by}` : ''} <Ago at={ended.at} />
          </strong>
          {proposal.callId ? <Link to={`/calls/${proposal.callId}` as never}>its call</Link> : null}
          <button type="button" className="button quiet" onClick={() => onDismiss(proposal.id)}>
            Put away
          </button>
        </p>
      ) : null}
    </article>
  );
}

function Ago({ at }: { at: number }) {
  useSecond();
  return <>{relative(at)}</>;
}

function Countdown({ to }: { to: number }) {
  useSecond();
  const { state } = useFeed();
  const left = Math.max(0, Math.ceil((to - Date.now() - state.clockAhead) / 1000));
  const clock = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, '0')}`;
  return <span className={left < 60 ? 'err-text' : 'wait-text'}>denied by itself in {clock}</span>;
}

function useSecond(): void {
  const [, again] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => again((n) => n + 1), 1000);
    return () => clearInterval(timer);
  }, []);
}
