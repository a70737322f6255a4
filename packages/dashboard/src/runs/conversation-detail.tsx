import { X } from 'lucide-react';
import { useEffect, useMemo, useRef, useState } from 'react';
import { useAddress } from '../address/address';
import { inert } from '../text/inert';
import { shortTime } from '../text/units';
import { Failure, Loading } from '../ui/states';
import { AskForm } from './ask-form';
import { lastEntryOf, pathTo } from './path';
import { RunBlock } from './run-block';
import { isOver, type RunInfo, useConversation } from './use-runs';

interface ConversationDetailProps {
  id: string;
  /** Its newest run, as the list of conversations has it. */
  newestRun: string | undefined;
  onClose(): void;
  onAgain(run: RunInfo): void;
}

/** Of the end so many pixels are near enough to be followed. */
const NEAR = 60;

/** A conversation as it was and as it goes on, along one of its branches. */
export function ConversationDetail({ id, newestRun, onClose, onAgain }: ConversationDetailProps) {
  const { search, set } = useAddress();
  const { data, error, refetch } = useConversation(id);
  const [branchAt, setBranchAt] = useState<number>();
  const body = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  const times = useMemo(
    () => new Map((data?.entries ?? []).map(({ seq, at }) => [seq, Date.parse(at)])),
    [data],
  );
  const newest = data?.runs.at(-1);
  // Somebody may go on with it elsewhere.
  const isBehind = data !== undefined && !data.runs.some(({ run_id: run }) => run === newestRun);
  useEffect(() => {
    if (isBehind && newestRun !== undefined) void refetch();
  }, [isBehind, newestRun, refetch]);
  const chosen = data?.runs.find(({ run_id: run }) => run === search.run) ?? newest;
  const path = data && chosen ? pathTo(data, chosen.run_id) : [];
  const toEnd = () => {
    if (isAtEnd.current) body.current?.scrollTo({ top: body.current.scrollHeight });
  };
  const branch = (after: number) => {
    setBranchAt(after);
    isAtEnd.current = true;
    requestAnimationFrame(() => {
      toEnd();
      body.current?.querySelector<HTMLElement>('.ask textarea')?.focus();
    });
  };
  const after =
    branchAt ?? (data && chosen && chosen !== newest ? lastEntryOf(data, chosen.run_id) : undefined);
  return (
    <aside className="split-detail conversation" aria-label="Conversation">
      <header className="panel-head row">
        <h2 className="grow cut" title={data?.title}>
          {inert(data?.title ?? '')}
        </h2>
        <button type="button" className="icon-button" aria-label="Close the conversation" onClick={onClose}>
          <X size={16} strokeWidth={1.5} aria-hidden />
        </button>
      </header>
      <div
        className="panel-body"
        ref={body}
        tabIndex={0}
        role="group"
        aria-label="What was said and done"
        onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
          isAtEnd.current = scrollHeight - scrollTop - clientHeight < NEAR;
        }}
      >
        {error && !data ? <Failure error={error} retry={() => void refetch()} /> : null}
        {!data && !error ? <Loading what="the conversation" /> : null}
        {data?.mission ? (
          <p className="dim">
            mission <span className="mono">{inert(data.mission)}</span>
          </p>
        ) : null}
        {path.map(({ run, until, branches }) => (
          <div key={run.run_id}>
            <RunBlock
              run={run}
              until={until}
              times={times}
              onBranch={branch}
              onAgain={onAgain}
              onGrown={toEnd}
            />
            {branches.length > 0 ? (
              <p className="dim row wrap branches">
                goes on otherwise:
                {branches.map((other) => (
                  <button
                    key={other.run_id}
                    type="button"
                    className="button link"
                    onClick={() => set({ run: other.run_id })}
                  >
                    “{inert(other.message).slice(0, 60)}”, {shortTime(Date.parse(other.started_at))}
                  </button>
                ))}
              </p>
            ) : null}
          </div>
        ))}
        {chosen && chosen !== newest ? (
          <p className="row">
            <button type="button" className="button quiet" onClick={() => set({ run: undefined })}>
              To the newest branch
            </button>
          </p>
        ) : null}
        {chosen && (isOver(chosen) || branchAt !== undefined) ? (
          <>
            {branchAt === undefined ? null : (
              <p className="note row wrap">
                <span className="grow">
                  A branch: it knows what was before the chosen step, and nothing after it.
                </span>
                <button type="button" className="button" onClick={() => setBranchAt(undefined)}>
                  At the end instead
                </button>
              </p>
            )}
            <AskForm
              conversation={{ id, after }}
              label={branchAt === undefined ? 'Ask more' : 'Ask on a branch'}
              onBegun={() => {
                setBranchAt(undefined);
                set({ run: undefined });
                isAtEnd.current = true;
              }}
            />
          </>
        ) : null}
      </div>
    </aside>
  );
}
