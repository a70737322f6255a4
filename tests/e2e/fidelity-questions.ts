import { META, OWN } from '../fixtures/fidelity-items.mjs';
import type { Talk } from './fidelity-talk.js';

const TEXT = { content: [{ type: 'text', text: 'done' }] };

/** What a server asks in mid-call, and every kind of answer. */
export async function talkOfQuestions(talk: Talk): Promise<void> {
  const schema = {
    type: 'object',
    properties: {
      n: { type: 'integer', minimum: 1, default: 2 },
      s: { type: 'string', enum: ['a'], enumNames: ['A'] },
    },
    required: ['n'],
  };
  await talk.step('elicitation by form', () =>
    talk.answer(
      {
        method: 'elicitation/create',
        params: { mode: 'form', message: 'Which?', requestedSchema: schema, _meta: META, ...OWN },
      },
      { result: { action: 'accept', content: { n: 3, s: 'a' }, _meta: META, ...OWN } },
    ),
  );
  await talk.step('elicitation by address', () =>
    talk.answer(
      {
        method: 'elicitation/create',
        params: { mode: 'url', message: 'Open', url: 'https://ex.org/x?y=1#z', elicitationId: 'e1', ...OWN },
      },
      { result: { action: 'decline' } },
    ),
  );
  await talk.step('sampling with tools', () =>
    talk.answer(
      { method: 'sampling/createMessage', params: sampling },
      {
        result: {
          role: 'assistant',
          model: 'm',
          stopReason: 'toolUse',
          content: [{ type: 'tool_use', id: 'u1', name: 't', input: { a: [1] }, _meta: META }],
          ...OWN,
        },
      },
    ),
  );
  await talk.step('roots', () =>
    talk.answer(
      { method: 'roots/list' },
      { result: { roots: [{ uri: 'file:///x', name: 'X', _meta: META, ...OWN }], ...OWN } },
    ),
  );
  await talk.step('a question refused', () =>
    talk.answer(
      { method: 'elicitation/create', params: { message: 'Again?', requestedSchema: { type: 'object' } } },
      { error: { code: -32099, message: 'Not now', data: { why: ['busy'], ...OWN } } },
    ),
  );
  await talk.step('a question of an extension', () =>
    talk.answer({ method: 'ex.org/question', params: { a: 1, ...OWN } }, { result: { b: 2, ...OWN } }),
  );
  await talk.step('a question with progress', () => answerWithProgress(talk));
  await talk.step('a question taken back', () =>
    talk
      .act({
        steps: [{ withdraw: { question: { method: 'roots/list' }, reason: 'No need', _meta: META } }],
        result: TEXT,
      })
      .then(() => talk.told('notifications/cancelled')),
  );
}

const sampling = {
  messages: [
    { role: 'user', content: { type: 'text', text: 'Hi' }, ...OWN },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'u0', name: 't', input: {} }] },
    {
      role: 'user',
      content: [
        { type: 'tool_result', toolUseId: 'u0', content: [{ type: 'text', text: 'x' }], isError: false },
      ],
    },
  ],
  modelPreferences: { hints: [{ name: 'small' }], costPriority: 0.5, intelligencePriority: 1, ...OWN },
  systemPrompt: 'Be brief',
  includeContext: 'thisServer',
  temperature: 0.1,
  maxTokens: 10,
  stopSequences: ['END'],
  metadata: { a: 1 },
  tools: [{ name: 't', inputSchema: { type: 'object' }, ...OWN }],
  toolChoice: { mode: 'auto' },
  _meta: META,
  ...OWN,
};

async function answerWithProgress(talk: Talk): Promise<void> {
  const params = { ...sampling, _meta: { progressToken: "the server's token" } };
  const done = talk.act({ steps: [{ ask: { method: 'sampling/createMessage', params } }], result: TEXT });
  const question = await talk.told('sampling/createMessage');
  talk.peer.notify('notifications/progress', {
    progressToken: "the server's token",
    progress: 1,
    _meta: META,
  });
  talk.peer.send({
    id: question?.id,
    result: { role: 'assistant', model: 'm', content: { type: 'text', text: 'x' } },
  });
  await done;
}
