import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { verifies } from '../requirements.js';
import { type Json, useAgentHouse } from '../support/agent.js';
import { brainOf } from '../support/model-api.js';
import { eventually, plainEnv, root } from '../support/processes.js';
import { startBridge } from '../support/road.js';

const { house, model } = useAgentHouse((server) => ({
  ...brainOf('text-react', server),
  AGENT_BRAIN: 'openai:fake,text-react:fake',
}));
beforeEach(() => {
  model.answer = ({ results: [first] }) =>
    first === undefined
      ? { text: 'I do it.', calls: [{ tool: 'ledger__step_1', args: {} }] }
      : { text: `The tool says: ${first} ✔` };
});

/** The built command, with pipes where a shell would have them. */
async function agent(args: string[], input = '', env: NodeJS.ProcessEnv = {}) {
  const settings = { MCP_API_URL: house.running.url, MCPBRIDGE_HOME: house.running.home };
  const child = spawn(process.execPath, [`${root}/packages/agent/dist/main.js`, ...args], {
    env: { ...plainEnv(), ...settings, ...env },
  });
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8').on('data', (text) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text) => (err += text));
  child.stdin.end(input);
  const [code] = await once(child, 'close');
  return { code, out, err };
}

describe('the command', () => {
  verifies('agent.command', async () => {
    const { code, out, err } = await agent(['Do', 'it.']);
    expect([code, out]).toEqual([0, 'The tool says: step_1 is done ✔\n']);
    expect(err).toMatch(/^✓ ledger__step_1 \{\} {2}\d+ ms$/m);
    // Nobody looks at it live, so nothing moves in it.
    expect(`${out}${err}`).not.toContain('\u001b');
  });

  test('what is piped in belongs to the question where it is asked for', async () => {
    const { out, err } = await agent(['-q', 'Review this:', '-'], 'a long diff\n');
    expect([out, err]).toEqual(['The tool says: step_1 is done ✔\n', '']);
    expect(model.questions.at(-1)?.all).toContain('Review this:\\n\\na long diff');
  });

  test('with --json every step is a line', async () => {
    const { out } = await agent(['--json', 'Do it.']);
    const lines = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map(({ type }) => type)).toEqual(
      expect.arrayContaining(['user', 'tool_call', 'tool_result', 'final_answer']),
    );
    expect(lines.at(-1)).toMatchObject({ type: 'end', state: 'done' });
  });

  test('an agent with another brain answers the same', async () => {
    model.answer = ({ results: [first] }) => ({
      text:
        first === undefined
          ? 'Thought: I do it.\nAction: ledger__step_2\nAction Input: {}\nObservation: invented'
          : `Thought: I know.\nFinal Answer: It says ${first}`,
    });
    const { out } = await agent(['-b', 'text-react', 'Do it.']);
    expect(out).toBe('It says step_2 is done\n');
    expect(model.questions.at(-1)?.api).toBe('completion');
  });

  test('a failure is one line and exit code 1, a wrong call 2', async () => {
    model.answer = () => ({ fails: { status: 401 } });
    const failed = await agent(['Do it.']);
    expect([failed.code, failed.out]).toEqual([1, '']);
    expect(failed.err).toMatch(/The brain "openai:fake" refused the key/);
    expect((await agent(['--no-such'])).code).toBe(2);
    const nobody = await agent(['Do it.'], '', { MCP_API_URL: 'http://127.0.0.1:9' });
    expect([nobody.code, nobody.err]).toEqual([
      1,
      expect.stringMatching(/^The orchestrator at .* could not be reached/),
    ]);
  });
});

verifies('agent.bridge', async () => {
  const peer = startBridge(house.running);
  try {
    await peer.initialize();
    const { tools } = (await peer.request('tools/list')).result;
    const names = tools.map(({ name }: Json) => name).filter((name: string) => name.startsWith('assistant_'));
    expect(names).toHaveLength(7);
    const reply = await peer.callTool('assistant_chat', { message: 'Do it.' }, { progressToken: 'p' });
    expect(reply.result.content[0].text).toMatch(/^The tool says: step_1 is done ✔\n\n\[conversation_id: /);
    expect(reply.result.structuredContent).toMatchObject({
      state: 'done',
      answer: 'The tool says: step_1 is done ✔',
    });
    const told = peer.frames
      .filter(({ method }: Json) => method === 'notifications/progress')
      .map(({ params }: Json) => params.message);
    expect(told).toEqual(['ledger__step_1 {}', expect.stringMatching(/^ledger__step_1 answered after/)]);
    // A client that cancels its question cancels the run.
    model.answer = () => ({ calls: [{ tool: 'ledger__step_3', args: { ms: 60_000 } }] });
    const before = house.ledger.length;
    const params = { name: 'assistant_chat', arguments: { message: 'Do it.' } };
    peer.send({ id: 'asked', method: 'tools/call', params });
    await eventually('the call is at the server', () => house.ledger.length > before);
    peer.notify('notifications/cancelled', { requestId: 'asked' });
    await eventually('the run is cancelled', async () => {
      const { conversations } = await house.send('GET', '/api/agent/conversations?limit=1');
      const { runs } = await house.send(
        'GET',
        `/api/agent/conversations/${conversations[0].conversation_id}`,
      );
      return runs[0].state === 'cancelled';
    });
  } finally {
    peer.close();
  }
});
