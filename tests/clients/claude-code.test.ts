import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startFakeAnthropic } from './fake-anthropic.mjs';
import { type Bridged, MODES, type Mode, startBridged } from './support/bridged.js';
import { describeAgent, type Prompt } from './support/describe-agent.js';
import { installNpm } from './support/install.js';
import { run, secludedEnv } from './support/run.js';

/** Runs `claude` in a folder that is its home too. */
async function claude(args: string[], home: string, env: NodeJS.ProcessEnv = {}): Promise<string> {
  const folder = await installNpm('claude-code', { '@anthropic-ai/claude-code': '2.1.332' });
  const wrapper = `${folder}/node_modules/@anthropic-ai/claude-code/cli-wrapper.cjs`;
  const own = {
    // No model where none is asked; of the real one it would wait for an answer.
    ANTHROPIC_BASE_URL: 'http://127.0.0.1:9',
    ANTHROPIC_API_KEY: 'none',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  };
  return run(process.execPath, [wrapper, ...args], {
    cwd: home,
    env: { ...secludedEnv(home), ...own, ...env },
  });
}

async function ask({ entry, modelUrl, home }: Prompt, more: NodeJS.ProcessEnv = {}): Promise<string> {
  const config = join(home, 'mcp.json');
  await writeFile(config, JSON.stringify({ mcpServers: { bridge: entry } }));
  const flags = ['--mcp-config', config, '--strict-mcp-config', '--allowedTools', 'mcp__bridge'];
  const args = ['-p', 'Use the tool.', ...flags, '--output-format', 'json'];
  return JSON.parse(await claude(args, home, { ANTHROPIC_BASE_URL: modelUrl, ...more })).result;
}

const nameOf = (tool: string) => ({ use: `mcp__bridge__${tool}` });

describeAgent('Claude Code', { startModel: startFakeAnthropic, nameOf, ask });

describe('Claude Code', () => {
  let bridged: Bridged;
  let home: string;
  beforeAll(async () => {
    bridged = await startBridged();
    home = await mkdtemp(join(tmpdir(), 'mcpbridge-claude-'));
  });
  afterAll(async () => {
    await bridged?.stop();
    await rm(home, { recursive: true, force: true });
  });

  /** A run in which the model calls "echo" with `input`; answers the model, to look at what it was given. */
  async function callEcho(mode: Mode, use: string, input: object, env?: NodeJS.ProcessEnv) {
    const model = await startFakeAnthropic([[{ use, input }], [{ say: 'Done.' }]]);
    try {
      expect(await ask({ entry: bridged.entry(mode), modelUrl: model.url, home }, env)).toBe('Done.');
      return model;
    } finally {
      await model.stop();
    }
  }

  test.each(MODES)('shows its model the tool with its schema in $mode mode', async ({ mode, echo }) => {
    const { use } = nameOf(echo);
    const model = await callEcho(mode, use, { message: 'hello' }, { ENABLE_TOOL_SEARCH: 'false' });
    expect(model.lastResult()).toMatchObject({ content: [{ type: 'text', text: 'Echo: hello' }] });
    const input_schema = expect.objectContaining({ required: ['message'] });
    const tool = { name: use, description: 'Echoes back the input string', input_schema };
    expect(model.loadedTools()).toContainEqual(expect.objectContaining(tool));
  });

  test.each(MODES)('tells its model why a call failed in $mode mode', async ({ mode, echo }) => {
    const model = await callEcho(mode, nameOf(echo).use, { message: 5 });
    expect(model.lastResult()).toMatchObject({
      is_error: true,
      content: expect.stringMatching(/\/message: must be string.*INVALID_ARGUMENTS/s),
    });
  });

  test('adds the bridge with one command and reports it connected', async () => {
    const { command, args, env } = bridged.entry('transparent');
    const variables = Object.entries(env).flatMap(([name, value]) => ['-e', `${name}=${value}`]);
    await claude(['mcp', 'add', '--scope', 'user', 'bridge', ...variables, '--', command, ...args], home);
    expect(await claude(['mcp', 'list'], home)).toMatch(/^bridge: .*Connected/m);
  });
});
