import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { HttpPeer } from '../support/http-peer.js';
import { type RunningOrchestrator, startOrchestrator } from '../support/orchestrator.js';
import { fixture } from '../support/processes.js';
import { featuresServer } from '../support/road.js';
import type { Frame } from '../support/stdio-peer.js';

const SPEAKS = { extensions: { 'io.modelcontextprotocol/tasks': {} } };

let running: RunningOrchestrator;
const peers: HttpPeer[] = [];
beforeAll(async () => {
  const withTask = (TASK: string) => ({
    command: process.execPath,
    args: [fixture('fidelity-server.mjs')],
    env: { ERA: 'modern', TASK },
  });
  running = await startOrchestrator({
    servers: { first: withTask('of-first'), second: withTask('of-second'), third: featuresServer() },
  });
});
afterEach(() => {
  for (const peer of peers.splice(0)) peer.close();
});
afterAll(() => running.stop());

function client(session: string, capabilities: object = SPEAKS): HttpPeer {
  const peer = HttpPeer.modern(running, session, capabilities);
  peers.push(peer);
  return peer;
}

const act = (peer: HttpPeer, server: string, args: Frame) =>
  peer.request('tools/call', { name: `${server}__act`, arguments: args });
const isTask = (taskId: string) => (frame: Frame) =>
  frame.method === 'notifications/tasks' && frame.params.taskId === taskId;

describe('at /mcp, where nothing but its id says whose a task is,', () => {
  test('the extension is announced because a server has it', async () => {
    const { result } = await client('announced').request('server/discover');
    expect(result.capabilities.extensions).toEqual(SPEAKS.extensions);
  });

  test('a call that becomes a task is followed, answered and cancelled at its own server', async () => {
    const peer = client('follows');
    const task = { resultType: 'task', taskId: 'of-second', status: 'working', 'x-own': 1 };
    expect((await act(peer, 'second', { result: task })).result).toMatchObject(task);
    const { result } = await peer.request('tasks/get', { taskId: 'of-second' });
    expect(result).toMatchObject({ taskId: 'of-second', status: 'working', 'x-own': 1 });
    const inputResponses = { one: { action: 'accept' } };
    const updated = await peer.request('tasks/update', { taskId: 'of-second', inputResponses });
    expect(updated.result['x-heard']).toEqual(inputResponses);
    expect((await peer.request('tasks/cancel', { taskId: 'of-second' })).result).toBeDefined();
  });

  test('a task of another day is found, and one that nobody has is refused', async () => {
    const peer = client('another-day');
    const found = await peer.request('tasks/get', { taskId: 'of-first' });
    expect(found.result).toMatchObject({ taskId: 'of-first', status: 'working' });
    const { error } = await peer.request('tasks/get', { taskId: 'nobodys' });
    expect(error).toEqual({ code: -32602, message: 'There is no task "nobodys".' });
  });

  test('news of the tasks that a client listens for reaches its stream, and of no other', async () => {
    const [peer, other] = [client('listens'), client('listens-not')];
    const taskIds = ['of-first', 'of-second'];
    void peer.request('subscriptions/listen', { notifications: { taskIds } }).catch(() => {});
    void other.request('subscriptions/listen', { notifications: { taskIds: ['of-first'] } }).catch(() => {});
    const isAgreed = ({ method }: Frame) => method === 'notifications/subscriptions/acknowledged';
    expect((await peer.waitFor(isAgreed)).params.notifications).toEqual({ taskIds });
    await other.waitFor(isAgreed);
    const params = { taskId: 'of-second', status: 'completed', result: { content: [] }, 'x-own': 1 };
    const news = (taskId: string) => ({
      steps: [{ update: { method: 'notifications/tasks', params: { ...params, taskId } } }],
      result: { content: [] },
    });
    await act(peer, 'second', news('not-asked-for'));
    await act(peer, 'second', news('of-second'));
    const { _meta, ...told } = (await peer.waitFor(isTask('of-second'))).params;
    expect(told).toEqual(params);
    expect(_meta['io.modelcontextprotocol/subscriptionId']).toBe(0);
    const heard = [...peer.frames, ...other.frames].filter(({ method }) => method === 'notifications/tasks');
    expect(heard).toHaveLength(1);
  });
});
