import { Link } from '@tanstack/react-router';
import { memo, useState } from 'react';
import { liveLink } from '../address/address';
import { Payload } from '../calls/payload';
import { inert } from '../text/inert';
import { InertText } from '../text/inert-text';
import { clock, count, duration, wholeTime } from '../text/units';
import { StatusMark } from '../ui/status-mark';
import type { Item } from './run-log';

interface ItemRowProps {
  item: Item;
  /** When it was, as the orchestrator has it. */
  at: number;
  /** It belongs to a step of a plan or to a sub-agent. */
  isWithin: boolean;
  /** The run goes on. */
  isLive: boolean;
  session: string;
  outcomes: ReadonlyMap<string, boolean>;
  onBranch: ((after: number) => void) | undefined;
}

/** Words above this fold. */
const FOLD_AT = 1200;
const REFUSED = new Set(['TOOL_NOT_ALLOWED', 'NOT_APPROVED', 'CIRCLE', 'UNKNOWN_TOOL', 'INVALID_ARGUMENTS']);

/** One line of a run. */
export const ItemRow = memo(function ItemRow({ item, at, isWithin, onBranch, ...more }: ItemRowProps) {
  const { seq } = item;
  const mayBranch = onBranch && seq !== undefined && (item.kind === 'call' || item.kind === 'other');
  return (
    <li className={`step ${item.kind}${isWithin ? ' within' : ''}`}>
      <time className="dim" title={wholeTime(at)}>
        {clock(at).slice(0, 8)}
      </time>
      <div className="step-body">
        <Body item={item} {...more} />
      </div>
      {mayBranch ? (
        <button
          type="button"
          className="button quiet small"
          title="Ask something else from here on"
          onClick={() => onBranch(seq)}
        >
          Branch<span className="hidden-text"> after this step</span>
        </button>
      ) : null}
    </li>
  );
});

const SAID = { user: ['asked', 'asked'], thinking: ['thinking', 'dim'], text: ['said', ''] } as const;

type BodyProps = Pick<ItemRowProps, 'item' | 'isLive' | 'session' | 'outcomes'>;

function Body({ item, isLive, session, outcomes }: BodyProps) {
  if ('text' in item) {
    const [label, className] = SAID[item.kind];
    return <Words label={label} text={item.text} className={className} />;
  }
  if (item.kind === 'call') return <CallLine item={item} isLive={isLive} session={session} />;
  const { step } = item;
  switch (step.type) {
    case 'plan':
      return (
        <>
          <p className="label-head">
            {step.because ? 'a new plan' : 'a plan'}
            {step.because ? <span className="dim"> since {inert(step.because)}</span> : null}
          </p>
          <ol className="plan">
            {step.steps.map(({ id, task, after }) => (
              <li key={id} className="row">
                <StatusMark status={outcomeOf(outcomes.get(id), isLive)} />
                <span className="grow">
                  <span className="mono dim">{inert(id)}</span> <InertText text={task} />
                  {after.length > 0 ? (
                    <span className="dim"> after {after.map(inert).join(', ')}</span>
                  ) : null}
                </span>
              </li>
            ))}
          </ol>
        </>
      );
    case 'step':
      return (
        <div className="row top">
          <StatusMark status={step.ok ? 'ok' : 'failed'} />
          <Words label={`step ${step.step}`} text={step.text} />
        </div>
      );
    case 'final_answer':
      return (
        <>
          {step.stopped ? (
            <p className="note wait">
              Stopped early: <InertText text={step.stopped} />
            </p>
          ) : null}
          <Words label="answer" text={step.text} className="answer" isWhole />
          {step.data === undefined ? null : <Payload title="Data" value={step.data} />}
        </>
      );
    case 'error':
      return (
        <p className="note err">
          <strong className="mono">{step.code}</strong> <InertText text={step.message} />
        </p>
      );
    case 'retry':
      return (
        <p className="wait-text">
          <InertText text={step.reason} /> Asked again{step.inMs > 0 ? ` after ${duration(step.inMs)}` : ''}:{' '}
          {inert(step.brain)}
        </p>
      );
  }
}

const outcomeOf = (ok: boolean | undefined, isLive: boolean) =>
  ok === undefined ? (isLive ? 'unknown' : 'cancelled') : ok ? 'ok' : 'failed';

interface WordsProps {
  label: string;
  text: string;
  className?: string;
  isWhole?: boolean;
}

function Words({ label, text, className = '', isWhole = false }: WordsProps) {
  const [isOpen, setOpen] = useState(false);
  const folds = !isWhole && text.length > FOLD_AT;
  return (
    <div className="words-of">
      <p className="label-head">{inert(label)}</p>
      <p className={`said-words ${className}`}>
        <InertText text={folds && !isOpen ? `${text.slice(0, FOLD_AT)}…` : text} />
      </p>
      {folds ? (
        <button type="button" className="button link" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? 'Fold' : `Show all ${count(text.length)} characters`}
        </button>
      ) : null}
    </div>
  );
}

interface CallLineProps {
  item: Item & { kind: 'call' };
  isLive: boolean;
  session: string;
}

/** A call with its result: one line, and all of it when opened. */
function CallLine({ item: { call, result, proposal }, isLive, session }: CallLineProps) {
  const [isOpen, setOpen] = useState(false);
  const status = statusOf({ result, proposal }, isLive);
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <StatusMark status={status} /> <span className="mono">{inert(call.tool)}</span>{' '}
        <span className="mono dim cut">{inert(JSON.stringify(call.arguments)).slice(0, 200)}</span>
        <span className="num">{result ? duration(result.durationMs) : ''}</span>
      </summary>
      {isOpen ? (
        <div className="stack call-whole">
          <Payload title="Arguments" value={call.arguments} />
          {result ? (
            <Payload
              title={result.isError ? 'What went wrong' : 'Result'}
              value={result.text}
              bytes={result.text.length}
            />
          ) : (
            <p className="said">No result yet.</p>
          )}
          {result?.pictures ? <p className="dim">Shown to the model: {result.pictures.join('; ')}</p> : null}
          <p>
            <Link to={liveLink(`session:${session} tool:*${ownName(call.tool)}`) as never}>
              its calls in the log
            </Link>
          </p>
        </div>
      ) : result?.isError ? (
        <p className="err-text cut">{inert(result.text).slice(0, 300)}</p>
      ) : null}
    </details>
  );
}

const ownName = (tool: string) => tool.slice(tool.indexOf('__') + (tool.includes('__') ? 2 : 1));

function statusOf(
  { result, proposal }: Pick<Item & { kind: 'call' }, 'result' | 'proposal'>,
  isLive: boolean,
): string {
  if (result) return !result.isError ? 'ok' : REFUSED.has(result.code ?? '') ? 'refused' : 'failed';
  if (!isLive) return 'cancelled';
  return proposal ? 'waiting' : 'running';
}
