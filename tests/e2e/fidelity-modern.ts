import { META, OWN, TOOL_RESULT } from '../fixtures/fidelity-items.mjs';
import { CLIENT } from './fidelity-legacy.js';
import type { Talk } from './fidelity-talk.js';

const KEY = 'io.modelcontextprotocol/';
const TEXT = { resultType: 'complete', content: [{ type: 'text', text: 'done' }] };

const envelope = (more: object = {}) => ({
  [`${KEY}protocolVersion`]: '2026-07-28',
  [`${KEY}clientInfo`]: CLIENT.clientInfo,
  [`${KEY}clientCapabilities`]: CLIENT.capabilities,
  ...META,
  ...more,
});
const _meta = envelope();

/** Everything that a client and a server of the modern era can say to each other. */
export async function talkModern(talk: Talk): Promise<void> {
  const call = (args: object, more: object = {}) => talk.act(args, { _meta, ...more });
  await talk.step('discover', () => talk.ask('server/discover', { _meta, ...OWN }));
  await talk.step('tools', () => talk.pages('tools/list', { _meta }));
  await talk.step('resources', () => talk.pages('resources/list', { _meta, ...OWN }));
  await talk.step('templates', () => talk.pages('resources/templates/list', { _meta }));
  await talk.step('prompts', () => talk.pages('prompts/list', { _meta }));
  await talk.step('read', () => talk.ask('resources/read', { uri: 'test://a', _meta, ...OWN }));
  await talk.step('prompt', () =>
    talk.ask('prompts/get', { name: 'greet', arguments: { who: 'Ünï' }, _meta, ...OWN }),
  );
  await talk.step('completion', () =>
    talk.ask('completion/complete', {
      ref: { type: 'ref/prompt', name: 'greet', ...OWN },
      argument: { name: 'who', value: 'a' },
      _meta,
    }),
  );
  await talk.step('every kind of content', () =>
    call({ result: { resultType: 'complete', ...TOOL_RESULT } }),
  );
  await talk.step('structured content of any kind', () =>
    call({ result: { ...TEXT, structuredContent: [1, 'a', null] } }),
  );
  await talk.step('with unknown members', () =>
    call({ result: { ...TEXT, resultType: 'ex.org/other' } }, OWN),
  );
  await talk.step('a refused call', () =>
    call({ error: { code: -32021, message: 'Needs more', data: { requiredCapabilities: { x: {} } } } }),
  );
  await questions(talk);
  await talk.step('progress', () =>
    call(
      { steps: [{ progress: { progress: 1, total: 3, message: 'one', ...OWN } }], result: TEXT },
      { _meta: envelope({ progressToken: 7 }) },
    ),
  );
  await talk.step('log', async () => {
    const params = { level: 'debug', logger: 'l', data: { a: 1 }, _meta: META, ...OWN };
    const steps = [{ notify: { method: 'notifications/message', params } }];
    await call({ steps, result: TEXT }, { _meta: envelope({ [`${KEY}logLevel`]: 'debug' }) });
  });
  await subscription(talk);
  await talk.step('extensions', async () => {
    await talk.ask('ex.org/extension', { a: { deep: [null] }, _meta, ...OWN });
    await talk.ask('ex.org/nothing', { a: 1, _meta });
  });
  await talk.step('tasks', async () => {
    await call({
      result: { resultType: 'task', taskId: 't1', status: 'working', ttlMs: null, pollIntervalMs: 5, ...OWN },
    });
    await talk.ask('tasks/get', { taskId: 't1', _meta, ...OWN });
    const inputResponses = { first: { action: 'accept', content: { a: 1 } } };
    await talk.ask('tasks/update', { taskId: 't1', inputResponses, _meta, ...OWN });
    await talk.ask('tasks/cancel', { taskId: 't1', _meta });
  });
}

async function questions(talk: Talk): Promise<void> {
  const need = {
    inputRequests: {
      'first one': {
        method: 'elicitation/create',
        params: { mode: 'form', message: 'Which?', requestedSchema: { type: 'object' }, ...OWN },
      },
      second: { method: 'sampling/createMessage', params: { messages: [], maxTokens: 1, tools: [], ...OWN } },
      third: { method: 'roots/list', params: { _meta: META } },
    },
    requestState: 'opaque-state',
    _meta: META,
    ...OWN,
  };
  const inputResponses = {
    'first one': { action: 'accept', content: { a: 1 }, ...OWN },
    second: { role: 'assistant', model: 'm', content: { type: 'text', text: 'x' } },
    third: { roots: [{ uri: 'file:///x', ...OWN }] },
  };
  const args = { need, result: TEXT };
  await talk.step('questions', async () => {
    await talk.act(args, { _meta });
    await talk.act(args, { _meta, inputResponses, requestState: 'opaque-state' });
  });
}

async function subscription(talk: Talk): Promise<void> {
  const notifications = {
    toolsListChanged: true,
    promptsListChanged: true,
    resourcesListChanged: true,
    resourceSubscriptions: ['test://a'],
    taskIds: ['t1'],
  };
  await talk.step('listen', async () => {
    talk.send('subscriptions/listen', { notifications, _meta });
    await talk.told('notifications/subscriptions/acknowledged');
  });
  const news: [string, object?][] = [
    ['notifications/resources/updated', { uri: 'test://a', ...OWN }],
    ['notifications/resources/list_changed', { ...OWN }],
    ['notifications/prompts/list_changed'],
    ['notifications/tools/list_changed'],
    ['notifications/tasks', { taskId: 't1', status: 'completed', result: { content: [] }, ...OWN }],
  ];
  for (const [method, params = {}] of news) {
    await talk.step(method, async () => {
      await talk.act({ steps: [{ update: { method, params } }], result: TEXT }, { _meta });
      await talk.told(method);
    });
  }
}
