import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { liveLink } from '../address/address';
import { ApprovalCard } from '../approvals/approval-card';
import { useCards } from '../approvals/use-cards';
import { Elapsed } from '../calls/elapsed';
import { messageOf, request } from '../net/request';
import { inert } from '../text/inert';
import { count, duration } from '../text/units';
import { StatusMark } from '../ui/status-mark';
import { ItemRow } from './item-row';
import { useRun } from './use-run';
import { isOver, MARKS, type RunInfo } from './use-runs';

interface RunBlockProps {
  run: RunInfo;
  /** What came after that entry belongs to another branch. */
  until: number | undefined;
  times: ReadonlyMap<number, number>;
  onBranch(after: number): void;
  onAgain(run: RunInfo): void;
  /** More is there to be seen. */
  onGrown(): void;
}

/** One question and all that came of it. */
export function RunBlock({ run: known, until, times, onBranch, onAgain, onGrown }: RunBlockProps) {
  const { items, outcomes, usage, end, fault } = useRun(known.run_id);
  const run =
    end ?? (isOver(known) ? known : { ...known, state: items.length > 0 ? 'running' : known.state });
  const isLive = !isOver(run);
  const { cards, dismiss } = useCards();
  const asked = cards.filter(({ proposal }) => items.some((item) => proposalOf(item) === proposal.id));
  // Whatever was painted may have made it longer.
  useEffect(onGrown);
  return (
    <section className="run" aria-label={`Run: ${inert(known.message).slice(0, 80)}`}>
      <RunHead run={run as RunInfo} usage={isLive ? usage : run.usage} onAgain={() => onAgain(known)} />
      {fault ? (
        <p className="note err" role="alert">
          {fault}
        </p>
      ) : null}
      <ol className="steps">
        {items
          .filter(({ seq }) => until === undefined || seq === undefined || seq <= until)
          .map((item) => (
            <ItemRow
              key={item.key}
              item={item}
              at={(item.seq === undefined ? undefined : times.get(item.seq)) ?? item.at}
              isWithin={item.run !== known.run_id}
              isLive={isLive}
              session={known.session_id}
              outcomes={outcomes}
              onBranch={item.run === known.run_id ? onBranch : undefined}
            />
          ))}
      </ol>
      {asked.map((card) => (
        <ApprovalCard key={card.proposal.id} card={card} onDismiss={dismiss} />
      ))}
    </section>
  );
}

function proposalOf(item: ReturnType<typeof useRun>['items'][number]): string | undefined {
  return item.kind === 'call' ? item.proposal?.proposal : undefined;
}

interface RunHeadProps {
  run: RunInfo;
  usage: RunInfo['usage'];
  onAgain(): void;
}

function RunHead({ run, usage, onAgain }: RunHeadProps) {
  const [fault, setFault] = useState<string>();
  const begun = Date.parse(run.started_at);
  const cancel = () =>
    request(`/api/agent/runs/${run.run_id}/cancel`, { method: 'POST' }).catch((error) =>
      setFault(messageOf(error)),
    );
  return (
    <>
      <header className="row wrap run-head">
        <StatusMark status={MARKS[run.state]} />
        <strong>{run.state === 'waiting' ? 'waits for a yes' : run.state}</strong>
        <span className="dim grow">
          <span title={inert(run.because)}>{run.strategy}</span> ·{' '}
          <span className="mono">{inert(run.backend)}</span> ·{' '}
          {run.ended_at ? duration(Date.parse(run.ended_at) - begun) : <Elapsed since={begun} />} ·{' '}
          {count(usage.inputTokens + usage.outputTokens)} tokens
          {usage.cost === undefined ? '' : ` · ${dollars(usage.cost)}`}
          {run.allowed_prefixes ? ` · only ${run.allowed_prefixes.map(inert).join(' ')}` : ''}
        </span>
        <Link to={liveLink(`session:${run.session_id}`) as never}>calls</Link>
        {isOver(run) ? (
          <button type="button" className="button" onClick={onAgain}>
            Run again…
          </button>
        ) : (
          <button type="button" className="button danger" onClick={() => void cancel()}>
            Cancel
          </button>
        )}
      </header>
      {fault ? (
        <p className="note err" role="alert">
          {fault}
        </p>
      ) : null}
    </>
  );
}

/** Three digits: a cent is much for one answer. */
export const dollars = (value: number): string => `$${Number(value.toPrecision(3))}`;
