import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createAgentSession } from '@mcpbridge/agent-session';
import { PLATFORM_TOOLS } from '@mcpbridge/shared/platform-tools.js';
import { verifies } from '../requirements.js';
import { callText, connectTo, openSession } from '../support/agent-sessions.js';
import { type RunningOrchestrator, startOrchestrator } from '../support/orchestrator.js';

let running: RunningOrchestrator;
beforeAll(async () => {
  running = await startOrchestrator();
});
afterAll(() => running?.stop());

const own = { name: 'mine', description: 'An app’s own', handler: () => 'here' };
const platform = PLATFORM_TOOLS.map(({ definition }) => definition.name);
const there = () => ({ url: `${running.url}/api/`, token: running.token });

async function listed(options: Parameters<typeof createAgentSession>[0]) {
  const client = await connectTo(await openSession(options));
  return { client, names: (await client.listTools()).tools.map(({ name }) => name) };
}

verifies('lean.orchestrator', async () => {
  expect((await listed({ tools: [own] })).names).toEqual(['mine']);
  const { client, names } = await listed({ tools: [own], orchestrator: there() });
  expect(names).toEqual(['mine', ...platform]);
  expect(await callText(client, 'mine')).toEqual({ failed: false, text: 'here' });
  const spec = await callText(client, 'get_api_spec', { tool_name: 'bare__echo' });
  expect(spec).toEqual({ failed: false, text: expect.stringContaining('POST $MCP_MCP/bare/echo') });
});

describe('an addition', () => {
  test('by name is listed as the orchestrator has it, and called there, for this session alone', async () => {
    const { client, names } = await listed({
      tools: [own],
      orchestrator: there(),
      additionalBridgeTools: ['bare__echo'],
    });
    expect(names).toEqual(['mine', ...platform, 'bare__echo']);
    expect(await callText(client, 'bare__echo', { text: 'hi' })).toEqual({ failed: false, text: 'hi' });
    expect((await listed({ tools: [own], orchestrator: there() })).names).toEqual(['mine', ...platform]);
    expect(PLATFORM_TOOLS.map(({ definition }) => definition.name)).toEqual(platform);
  });

  test('as an entry needs nobody to be asked, and its refusals are told to the model', async () => {
    const entry = { name: 'echo', description: 'Echoes', server: 'bare', type: 'mcp' } as const;
    const { client } = await listed({
      tools: [own],
      orchestrator: there(),
      additionalBridgeTools: [entry, { name: 'no_such_tool' }],
    });
    expect(await callText(client, 'echo', { text: 'hi' })).toEqual({ failed: false, text: 'hi' });
    const unknown = await callText(client, 'no_such_tool');
    expect(unknown).toEqual({ failed: true, text: expect.stringMatching(/no_such_tool.*UNKNOWN_TOOL/s) });
  });

  test('that the orchestrator does not have is refused with its words', async () => {
    const refused = createAgentSession({
      tools: [own],
      orchestrator: there(),
      additionalBridgeTools: ['bare__ecko'],
    });
    await expect(refused).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringMatching(/bare__ecko.*"bare__echo"/s),
    });
  });
});

test('a tool of an own that is named as a platform tool is refused', async () => {
  const refused = createAgentSession({
    tools: [{ ...own, name: 'get_api_spec' }],
    orchestrator: there(),
  });
  await expect(refused).rejects.toMatchObject({ message: expect.stringContaining('"get_api_spec"') });
});

test('an orchestrator that is not there is told to the model, and the own tools work', async () => {
  const orchestrator = { url: 'http://127.0.0.1:1', token: 'none' };
  const { client } = await listed({ tools: [own], orchestrator });
  expect(await callText(client, 'get_api_spec', { tool_name: 'a' })).toEqual({
    failed: true,
    text: expect.stringMatching(/127\.0\.0\.1:1 did not answer.*PROVIDER_UNAVAILABLE/s),
  });
  expect(await callText(client, 'mine')).toEqual({ failed: false, text: 'here' });
});

test('a session of a random name is gone at the orchestrator with the app’s, a named one stays', async () => {
  const ids: string[] = [];
  for (const sessionId of [undefined, 'kept']) {
    const session = await openSession({ tools: [own], orchestrator: there(), sessionId });
    await callText(await connectTo(session), 'get_api_spec', { tool_name: 'bare__echo' });
    await session.close();
    ids.push(session.id);
  }
  const answer = await fetch(`${running.url}/api/sessions`, { headers: running.headers() });
  const { sessions } = (await answer.json()) as { sessions: { id: string }[] };
  const open = sessions.map(({ id }) => id);
  expect(ids.map((id) => open.includes(id))).toEqual([false, true]);
});
