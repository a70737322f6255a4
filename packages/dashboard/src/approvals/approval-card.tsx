import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useCallback, useId, useState } from 'react';
import { useToolOf } from '../calls/use-tool-of';
import { request } from '../net/request';
import { inert } from '../text/inert';
import { InertText } from '../text/inert-text';
import { type Policy, standing } from '../tools/patterns';
import { CardFrame } from './card-frame';
import type { Card } from './use-cards';
import { type Remember, useDecide, useLock } from './use-decide';
import { WholeArguments } from './whole-arguments';

const EditArguments = lazy(() =>
  import('./edit-arguments').then((module) => ({ default: module.EditArguments })),
);

export interface CardProps {
  card: Card;
  onDismiss(id: string): void;
}

const RULES: Record<'once' | Remember, (tool: string) => string> = {
  once: () => 'saves nothing: the next one asks again',
  arguments: (tool) => `saves: allow ${tool} with exactly these arguments, in this session`,
  tool: (tool) => `saves: allow ${tool} with whatever arguments, in this session`,
};

/** A call that waits. Yes is off until all of it was on screen; no is as near. */
export function ApprovalCard({ card, onDismiss }: CardProps) {
  const { proposal, ended, since } = card;
  const [edited, setEdited] = useState<Record<string, unknown>>();
  const [isEditing, setEditing] = useState(false);
  const [isSeen, setSeen] = useState(false);
  const [note, setNote] = useState('');
  const [rule, setRule] = useState<'once' | Remember>('once');
  const ruleId = useId();
  const onSeen = useCallback(() => setSeen(true), []);
  const isFresh = useLock(since + 500);
  const { decide, fault: refusal, isBlocked } = useDecide(proposal.id);
  const tool = useToolOf({ server: proposal.server, tool: proposal.tool, session: proposal.sessionId });
  const { data: session } = useQuery({
    queryKey: ['sessions', proposal.sessionId],
    queryFn: () => request<{ policy?: Policy }>(`/api/sessions/${encodeURIComponent(proposal.sessionId)}`),
    staleTime: 30_000,
  });
  const why = tool && session?.policy ? standing(session.policy, tool).by : 'a policy above its session';
  const mayApprove = isSeen && !isFresh && !isBlocked;
  const change = (next: Record<string, unknown> | undefined) => {
    setSeen(false);
    setEdited(next);
    setEditing(false);
  };
  const deny = () => void decide({ accept: false, note });
  return (
    <CardFrame
      card={card}
      onDismiss={onDismiss}
      title={
        <span className="mono">
          <InertText text={`${proposal.server} · ${proposal.tool}`} />
        </span>
      }
      tags={
        tool?.annotations?.readOnlyHint === true ? (
          <span className="tag">only reads</span>
        ) : tool?.annotations?.destructiveHint === false ? (
          <span className="tag wait">writes</span>
        ) : (
          <span className="tag err">DESTRUCTIVE</span>
        )
      }
    >
      <p>
        <span className="dim">Stopped by the rule</span> <code>{why}</code>
      </p>
      <WholeArguments key={JSON.stringify(edited)} value={edited ?? proposal.arguments} onSeen={onSeen} />
      {edited && !ended ? (
        <p className="note wait row wrap">
          <span className="grow">Edited by you: these are sent instead, and the agent is told.</span>
          <button type="button" className="button" onClick={() => change(undefined)}>
            As they were
          </button>
        </p>
      ) : null}
      {ended ? null : (
        // biome-ignore lint/a11y/noStaticElementInteractions: D denies where the card has the focus
        <div
          className="stack"
          onKeyDown={(event) => {
            if (
              event.key.toLowerCase() !== 'd' ||
              event.target instanceof HTMLTextAreaElement ||
              event.ctrlKey ||
              event.metaKey
            )
              return;
            event.preventDefault();
            deny();
          }}
        >
          <label>
            <span className="label">Note to the agent, with a no or a yes</span>
            <textarea
              className="field"
              rows={1}
              value={note}
              onChange={(event) => setNote(event.target.value)}
            />
          </label>
          <div className="decide">
            <button type="button" className="button danger" disabled={isBlocked} onClick={deny}>
              Deny <kbd>D</kbd>
            </button>
            <button type="button" className="button" disabled={isBlocked} onClick={() => setEditing(true)}>
              Edit arguments…
            </button>
            <span className="grow" />
            <select
              className="field"
              aria-label="What an approval saves"
              aria-describedby={ruleId}
              value={rule}
              onChange={(event) => setRule(event.target.value as Remember)}
            >
              <option value="once">once</option>
              <option value="arguments">and these arguments from now on</option>
              <option value="tool">and this tool from now on</option>
            </select>
            <button
              type="button"
              className="button primary"
              disabled={!mayApprove}
              onClick={() =>
                void decide({
                  accept: true,
                  note,
                  ...(rule === 'once' ? {} : { remember: rule }),
                  ...(edited ? { arguments: edited } : {}),
                })
              }
            >
              {rule === 'once' ? 'Approve once' : 'Approve and save'}
            </button>
          </div>
          <p className="dim" id={ruleId}>
            {isSeen || edited !== undefined
              ? RULES[rule](proposal.tool)
              : 'Read to the end of the arguments to approve.'}
          </p>
        </div>
      )}
      {refusal && !ended ? (
        <p className="note err" role="alert">
          {refusal}
        </p>
      ) : null}
      {isEditing && !ended ? (
        <Suspense>
          <EditArguments
            name={inert(`${proposal.server} · ${proposal.tool}`)}
            value={edited ?? proposal.arguments}
            tool={tool}
            onDone={change}
            onClose={() => setEditing(false)}
          />
        </Suspense>
      ) : null}
    </CardFrame>
  );
}
