import { META, OWN, TOOL_RESULT } from '../fixtures/fidelity-items.mjs';
import { talkOfQuestions } from './fidelity-questions.js';
import type { Talk } from './fidelity-talk.js';

const TEXT = { content: [{ type: 'text', text: 'done' }] };

export const CLIENT = {
  capabilities: {
    roots: { listChanged: true, 'x-own': 1 },
    sampling: { tools: {}, context: {} },
    elicitation: { form: {}, url: {} },
    tasks: { list: {}, cancel: {}, requests: { elicitation: { create: {} } } },
    experimental: { 'ex.org/x': { on: true } },
    extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } },
    ...OWN,
  },
  clientInfo: {
    name: 'fidelity-client',
    title: 'A client',
    version: '3.2.1',
    websiteUrl: 'https://ex.org',
    ...OWN,
  },
};

/** Everything that a client and a server of the legacy era can say to each other. */
export async function talkLegacy(talk: Talk): Promise<void> {
  const { peer } = talk;
  await talk.step('initialize', async () => {
    await talk.ask('initialize', { protocolVersion: '2025-06-18', ...CLIENT, _meta: META, ...OWN });
    peer.notify('notifications/initialized');
  });
  await lists(talk);
  await calls(talk);
  await talkOfQuestions(talk);
  await notifications(talk);
  await talk.step('ping', () => talk.ask('ping'));
  await talk.step('ping by the server', () => talk.answer({ method: 'ping' }, { result: {} }));
  await talk.step('extensions', async () => {
    await talk.ask('ex.org/extension', { a: { deep: [null] }, _meta: META, ...OWN });
    await talk.ask('ex.org/nothing', { a: 1 });
  });
  await tasks(talk);
}

async function lists(talk: Talk): Promise<void> {
  await talk.step('tools', () => talk.pages('tools/list'));
  await talk.step('resources', () => talk.pages('resources/list', { _meta: META }));
  await talk.step('templates', () => talk.pages('resources/templates/list'));
  await talk.step('prompts', () => talk.pages('prompts/list', OWN));
  await talk.step('read', () => talk.ask('resources/read', { uri: 'test://a', _meta: META, ...OWN }));
  await talk.step('prompt', () =>
    talk.ask('prompts/get', { name: 'greet', arguments: { who: 'Ünï' }, _meta: META, ...OWN }),
  );
  await talk.step('completion', () =>
    talk.ask('completion/complete', {
      ref: { type: 'ref/resource', uri: 'test://{+path}{?q*}', ...OWN },
      argument: { name: 'q', value: 'a', ...OWN },
      context: { arguments: { path: 'b' } },
      _meta: META,
    }),
  );
}

async function calls(talk: Talk): Promise<void> {
  await talk.step('every kind of content', () => talk.act({ result: TOOL_RESULT }, { _meta: META }));
  await talk.step('without arguments', () => talk.ask('tools/call', { name: 'act' }));
  await talk.step('with unknown members', () => talk.act({ result: TEXT }, OWN));
  await talk.step('structured content alone', () =>
    talk.act({ result: { content: [], structuredContent: {} } }),
  );
  await talk.step("a tool's own failure", () => talk.act({ result: { ...TEXT, isError: true, ...OWN } }));
  await talk.step('a refused call', () =>
    talk.act({
      error: { code: -32042, message: 'Go there first', data: { elicitations: [{ mode: 'url' }] } },
    }),
  );
  await talk.step('progress', () =>
    talk.act(
      {
        steps: [
          { progress: { progress: 1, total: 3, message: 'one', _meta: META, ...OWN } },
          { progress: { progress: 2.5 } },
        ],
        result: TEXT,
      },
      { _meta: { progressToken: 'my token', ...META } },
    ),
  );
  await talk.step('cancellation', async () => {
    const steps = [
      { notify: { method: 'notifications/message', params: { level: 'info', data: 'it runs' } } },
    ];
    const id = talk.send('tools/call', { name: 'act', arguments: { steps: [...steps, { hang: {} }] } });
    await talk.told('notifications/message');
    talk.peer.notify('notifications/cancelled', { requestId: id, reason: 'Changed my mind', _meta: META });
    await talk.act({ result: TEXT });
  });
}

async function notifications(talk: Talk): Promise<void> {
  const say = async (method: string, params?: object) => {
    await talk.act({ steps: [{ notify: { method, ...(params ? { params } : {}) } }], result: TEXT });
    await talk.told(method);
  };
  await talk.step('level', () => talk.ask('logging/setLevel', { level: 'debug', _meta: META, ...OWN }));
  await talk.step('log', () =>
    say('notifications/message', {
      level: 'debug',
      logger: 'l',
      data: { a: [1, null] },
      _meta: META,
      ...OWN,
    }),
  );
  await talk.step('subscribe', () =>
    talk.ask('resources/subscribe', { uri: 'test://a', _meta: META, ...OWN }),
  );
  await talk.step('update', () =>
    say('notifications/resources/updated', { uri: 'test://a', title: 'A', _meta: META, ...OWN }),
  );
  await talk.step('unsubscribe', () => talk.ask('resources/unsubscribe', { uri: 'test://a' }));
  await talk.step('resources changed', () => say('notifications/resources/list_changed', { _meta: META }));
  await talk.step('prompts changed', () => say('notifications/prompts/list_changed'));
  await talk.step('tools changed', () => say('notifications/tools/list_changed', { _meta: META }));
  await talk.step('elicitation done', () =>
    say('notifications/elicitation/complete', { elicitationId: 'e1', ...OWN }),
  );
  await talk.step('of an extension', () => say('notifications/ex.org/news', { a: 1, _meta: META, ...OWN }));
  await talk.step('by the client', async () => {
    talk.peer.notify('notifications/roots/list_changed', { _meta: META });
    talk.peer.notify('notifications/ex.org/hello', { a: [1], ...OWN });
    await talk.act({ result: TEXT });
  });
}

async function tasks(talk: Talk): Promise<void> {
  await talk.step('a call as a task', () =>
    talk.act(
      {
        result: {
          task: { taskId: 't1', status: 'working', ttl: 60000, pollInterval: 5, ...OWN },
          _meta: META,
        },
      },
      { task: { ttl: 60000, ...OWN } },
    ),
  );
  await talk.step('tasks', async () => {
    for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel'])
      await talk.ask(method, { taskId: 't1', _meta: META, ...OWN });
    await talk.ask('tasks/list', { cursor: 'c' });
  });
  await talk.step('news of a task', async () => {
    const params = { taskId: 't1', status: 'completed', ttl: null, _meta: META, ...OWN };
    await talk.act({ steps: [{ notify: { method: 'notifications/tasks/status', params } }], result: TEXT });
    await talk.told('notifications/tasks/status');
  });
}
