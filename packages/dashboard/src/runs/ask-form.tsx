import type { JsonObject } from '@mcpbridge/shared/json-rpc.js';
import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { messageOf, request } from '../net/request';
import { inert } from '../text/inert';
import { MissionInputs, valuesOf } from './mission-inputs';
import { type RunInfo, useBackends } from './use-runs';

interface AskFormProps {
  /** A conversation that goes on, at its end or after that entry. */
  conversation?: { id: string; after?: number | undefined };
  /** What stands in it at first. */
  message?: string;
  label: string;
  onBegun(run: RunInfo): void;
}

const STRATEGIES = {
  '': 'as the mission says, else by the question',
  auto: 'chosen by the question',
  react: 'one tool at a time',
  parallel: 'independent calls at once',
  plan: 'a plan, step by step',
};

/** A question for the agent, with whatever the API takes beside it. */
export function AskForm({ conversation, message: first = '', label, onBegun }: AskFormProps) {
  const queries = useQueryClient();
  const { data } = useBackends();
  const [message, setMessage] = useState(first);
  const [mission, setMission] = useState('');
  const [inputs, setInputs] = useState<Record<string, string>>({});
  const [more, setMore] = useState({
    backend: '',
    strategy: '',
    prefixes: '',
    iterations: '',
    time: '',
    cost: '',
  });
  const [fault, setFault] = useState<string>();
  const [isSending, setSending] = useState(false);
  const chosen = data?.missions.find(({ name }) => name === mission);
  const send = async () => {
    if (isSending || message.trim() === '') return;
    setSending(true);
    setFault(undefined);
    try {
      const body = bodyOf({
        message,
        mission,
        inputs: valuesOf(chosen?.inputs, inputs),
        conversation,
        ...more,
      });
      const run = await request<RunInfo>('/api/agent/runs', { method: 'POST', body });
      setMessage('');
      await queries.invalidateQueries({ queryKey: ['agent'] });
      onBegun(run);
    } catch (error) {
      setFault(messageOf(error));
    } finally {
      setSending(false);
    }
  };
  const field = (name: keyof typeof more, words: string, hint: string) => (
    <label>
      <span className="label">{words}</span>
      <input
        className="field"
        placeholder={hint}
        value={more[name]}
        onChange={({ target }) => setMore({ ...more, [name]: target.value })}
      />
    </label>
  );
  return (
    <form
      className="stack ask"
      aria-label={label}
      onSubmit={(event: FormEvent) => {
        event.preventDefault();
        void send();
      }}
    >
      <label>
        <span className="label">{label}</span>
        <textarea
          data-first
          className="field"
          rows={3}
          value={message}
          placeholder="What do you want to know, or to have done?"
          onChange={({ target }) => setMessage(target.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
            event.preventDefault();
            void send();
          }}
        />
      </label>
      <div className="ask-choices">
        {data && data.missions.length > 0 ? (
          <label>
            <span className="label">Mission</span>
            <select className="field" value={mission} onChange={({ target }) => setMission(target.value)}>
              <option value="">{conversation ? 'that of the conversation' : 'none'}</option>
              {data.missions.map(({ name, description, fault: why }) => (
                <option key={name} value={name} disabled={why !== undefined}>
                  {inert(
                    why === undefined ? [name, description].filter(Boolean).join(': ') : `${name}: ${why}`,
                  )}
                </option>
              ))}
            </select>
          </label>
        ) : null}
        <label>
          <span className="label">Brain</span>
          <select
            className="field"
            value={more.backend}
            onChange={({ target }) => setMore({ ...more, backend: target.value })}
          >
            <option value="">{usual(data?.backends)}</option>
            {data?.backends.map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <label>
          <span className="label">Strategy</span>
          <select
            className="field"
            value={more.strategy}
            onChange={({ target }) => setMore({ ...more, strategy: target.value })}
          >
            {Object.entries(STRATEGIES).map(([value, words]) => (
              <option key={value} value={value}>
                {words}
              </option>
            ))}
          </select>
        </label>
      </div>
      {chosen?.inputs ? <MissionInputs inputs={chosen.inputs} values={inputs} onChange={setInputs} /> : null}
      <details>
        <summary>Tools and limits</summary>
        <div className="ask-choices">
          {field('prefixes', 'Only tools that begin with', 'memory__ fs__read')}
          {field('iterations', 'Answers of the model', '40')}
          {field('time', 'Time', '30m')}
          {field('cost', 'Cost in dollars', 'no limit')}
        </div>
      </details>
      {fault ? (
        <p className="note err" role="alert">
          {fault}
        </p>
      ) : null}
      <div className="row">
        <button type="submit" className="button primary" disabled={isSending || message.trim() === ''}>
          {isSending ? 'Asking …' : 'Ask'} <kbd>Ctrl Enter</kbd>
        </button>
      </div>
    </form>
  );
}

function usual(backends: { name: string; isDefault: boolean }[] = []): string {
  const found = backends.find(({ isDefault }) => isDefault);
  return found ? `the usual (${found.name})` : 'the usual';
}

interface Given {
  message: string;
  mission: string;
  inputs: JsonObject | undefined;
  conversation: AskFormProps['conversation'];
  backend: string;
  strategy: string;
  prefixes: string;
  iterations: string;
  time: string;
  cost: string;
}

function bodyOf(given: Given): JsonObject {
  const { message, mission, inputs, conversation, backend, strategy, prefixes, iterations, time, cost } =
    given;
  const limits = {
    ...(iterations.trim() ? { iterations: Number(iterations) } : {}),
    ...(time.trim() ? { time: time.trim() } : {}),
    ...(cost.trim() ? { cost: Number(cost) } : {}),
  };
  return {
    message,
    ...(mission ? { mission } : {}),
    ...(inputs ? { inputs } : {}),
    ...(conversation ? { conversation_id: conversation.id } : {}),
    ...(conversation?.after === undefined ? {} : { after: conversation.after }),
    ...(backend ? { backend } : {}),
    ...(strategy ? { strategy } : {}),
    ...(prefixes.trim() ? { allowed_prefixes: prefixes.trim().split(/[\s,]+/) } : {}),
    ...(Object.keys(limits).length > 0 ? { limits } : {}),
  };
}
