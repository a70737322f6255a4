import './runs.css';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { stringifySearch, useAddress } from '../address/address';
import { useKeys } from '../shell/keys';
import { useTitle } from '../shell/title';
import { inert } from '../text/inert';
import { count, duration, relative, wholeTime } from '../text/units';
import { Dialog } from '../ui/dialog';
import { Command, Empty, Failure, Loading } from '../ui/states';
import { StatusMark } from '../ui/status-mark';
import { AskForm } from './ask-form';
import { ConversationDetail } from './conversation-detail';
import { dollars } from './run-block';
import { MARKS, type RunInfo, useBackends, useConversations } from './use-runs';

const STATES = { running: 'Running', waiting: 'Waiting', done: 'Done', failed: 'Failed' } as const;

/** What the agent is at, what it decided, and what it cost. */
export default function RunsView() {
  const { path, search, set, go } = useAddress();
  const { data, error, refetch } = useConversations();
  const { data: house } = useBackends();
  /** What is asked anew, or undefined for something else. */
  const [asking, setAsking] = useState<{ run?: RunInfo }>();
  const chosen = path.startsWith('/runs/') ? decodeURIComponent(path.slice('/runs/'.length)) : undefined;
  const hasBrain = house === undefined || house.backends.length > 0;
  useTitle('Agent runs');
  const words = (search.find ?? '').toLowerCase();
  const rows = (data ?? []).filter(
    ({ title, mission = '', newest }) =>
      `${title} ${mission}`.toLowerCase().includes(words) &&
      (search.state === undefined || newest?.state === search.state),
  );
  const open = (id: string) => go(`/runs/${encodeURIComponent(id)}`, kept(search));
  const step = (by: number) => {
    const at = rows.findIndex(({ conversation_id: id }) => id === chosen);
    const next = rows[Math.max(0, Math.min(rows.length - 1, at + by))];
    if (next) open(next.conversation_id);
  };
  useKeys([
    { keys: 'n', label: 'Ask the agent', run: () => hasBrain && setAsking({}) },
    { keys: 'j', label: 'Next conversation', run: () => step(1) },
    { keys: 'ArrowDown', label: 'Next conversation', run: () => step(1) },
    { keys: 'k', label: 'Conversation before', run: () => step(-1) },
    { keys: 'ArrowUp', label: 'Conversation before', run: () => step(-1) },
    { keys: 'Escape', label: 'Close the conversation', run: () => chosen && go('/runs', kept(search)) },
  ]);
  const numbers = new Map<string, number>();
  for (const { newest } of data ?? [])
    if (newest) numbers.set(newest.state, (numbers.get(newest.state) ?? 0) + 1);
  return (
    <div className="split">
      <section className="split-list" aria-label="Conversations">
        <header>
          <h1>Agent runs</h1>
          <input
            className="field find-line"
            aria-label="Find conversations"
            placeholder="find"
            value={search.find ?? ''}
            onChange={(event) => set({ find: event.target.value || undefined }, { replace: true })}
          />
          <div className="row wrap" role="group" aria-label="Which conversations">
            {Object.entries(STATES).map(([state, label]) => (
              <button
                key={state}
                type="button"
                className="button quiet"
                aria-pressed={search.state === state}
                onClick={() => set({ state: search.state === state ? undefined : state })}
              >
                {label} {numbers.get(state) ?? 0}
              </button>
            ))}
          </div>
          {hasBrain ? (
            <button type="button" className="button primary" onClick={() => setAsking({})}>
              Ask the agent…
            </button>
          ) : null}
        </header>
        {error && !data ? <Failure error={error} retry={() => void refetch()} /> : null}
        {!data && !error ? <Loading what="conversations" /> : null}
        {hasBrain ? null : <NoBrain />}
        {data?.length === 0 && hasBrain ? (
          <Empty title="Nothing was asked yet">
            <p>
              Ask here, with <code>agent "question"</code>, or with <code>assistant_chat</code> from any
              client.
            </p>
          </Empty>
        ) : null}
        {rows.length > 0 ? (
          <div className="scroll-x">
            <table className="table">
              <thead>
                <tr>
                  <th>State</th>
                  <th>Question</th>
                  <th>How</th>
                  <th className="num">Took</th>
                  <th className="num">Tokens</th>
                  <th className="num">Cost</th>
                  <th>Last used</th>
                </tr>
              </thead>
              <tbody>
                {rows.map(({ conversation_id: id, title, mission, newest, updated_at: updated }) => (
                  <tr
                    key={id}
                    className="pickable"
                    aria-selected={id === chosen}
                    onClick={(event) =>
                      event.target instanceof HTMLElement && !event.target.closest('a') && open(id)
                    }
                  >
                    <td>
                      {newest ? (
                        <span className="state">
                          <StatusMark status={MARKS[newest.state]} />
                          {newest.state}
                        </span>
                      ) : null}
                    </td>
                    <td>
                      <Link
                        to={`/runs/${encodeURIComponent(id)}${stringifySearch(kept(search))}` as never}
                        className="plain"
                      >
                        {inert(title)}
                      </Link>
                      {mission ? <span className="tag">{inert(mission)}</span> : null}
                    </td>
                    <td className="dim">{newest ? inert(`${newest.strategy} · ${newest.backend}`) : ''}</td>
                    <td className="num">
                      {newest?.ended_at
                        ? duration(Date.parse(newest.ended_at) - Date.parse(newest.started_at))
                        : ''}
                    </td>
                    <td className="num">
                      {newest ? count(newest.usage.inputTokens + newest.usage.outputTokens) : ''}
                    </td>
                    <td className="num">
                      {newest?.usage.cost === undefined ? '' : dollars(newest.usage.cost)}
                    </td>
                    <td title={wholeTime(Date.parse(updated))}>{relative(Date.parse(updated))}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        ) : null}
        {data && data.length > 0 && rows.length === 0 ? <p className="said">No conversation fits.</p> : null}
      </section>
      {chosen === undefined ? null : (
        <ConversationDetail
          key={chosen}
          id={chosen}
          newestRun={data?.find(({ conversation_id: id }) => id === chosen)?.newest?.run_id}
          onClose={() => go('/runs', kept(search))}
          onAgain={(run) => setAsking({ run })}
        />
      )}
      {asking ? (
        <Dialog title={asking.run ? 'Run it again' : 'Ask the agent'} onClose={() => setAsking(undefined)}>
          {asking.run ? (
            <p className="dim">
              {asking.run.after === undefined
                ? 'As a conversation of its own; what was done stays done.'
                : 'On a branch, from where this run began; what was done stays done.'}
            </p>
          ) : null}
          <AskForm
            label="Question"
            message={asking.run?.message ?? ''}
            {...(asking.run?.after === undefined
              ? {}
              : { conversation: { id: asking.run.conversation_id, after: asking.run.after } })}
            onBegun={(run) => {
              setAsking(undefined);
              open(run.conversation_id);
            }}
          />
        </Dialog>
      ) : null}
    </div>
  );
}

/** What of the address holds for another conversation, too. */
function kept({ find, state }: Record<string, string>): Record<string, string> {
  return { ...(find ? { find } : {}), ...(state ? { state } : {}) };
}

function NoBrain() {
  return (
    <Empty title="The agent has no brain yet">
      <p>Give it a key, or the address of a server of your own, and start the orchestrator again:</p>
      <Command text="ANTHROPIC_API_KEY=… npm start" />
      <Command text="OPENAI_API_KEY=… npm start" />
      <Command text="OPENAI_BASE_URL=http://127.0.0.1:8081/v1 npm start" />
      <p className="dim">llama.cpp, vLLM, Ollama and whatever else speaks OpenAI’s API will do.</p>
    </Empty>
  );
}
