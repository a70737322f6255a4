import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { AgentHouse } from '../support/agent.js';
import { brainOf, startModel } from '../support/model-api.js';
import { bridgeFile } from '../support/processes.js';
import { startFakeAnthropic } from './fake-anthropic.mjs';
import { installNpm } from './support/install.js';
import { run, secludedEnv } from './support/run.js';

test('Claude Code asks the agent through the bridge, and the agent uses a tool for it', async () => {
  const folder = await installNpm('claude-code', { '@anthropic-ai/claude-code': '2.1.332' });
  const wrapper = `${folder}/node_modules/@anthropic-ai/claude-code/cli-wrapper.cjs`;
  const home = await mkdtemp(join(tmpdir(), 'mcpbridge-claude-'));
  const brain = await startModel(({ results: [first] }) =>
    first === undefined
      ? { calls: [{ tool: 'ledger__step_7', args: {} }] }
      : { text: `The agent was told: ${first}` },
  );
  const claude = await startFakeAnthropic([
    [{ use: 'mcp__bridge__assistant_chat', input: { message: 'Do step 7.' } }],
    (result: string) => [{ say: `It says: ${result.split('\n')[0]}` }],
  ]);
  const house = await AgentHouse.start(brainOf('openai', brain));
  try {
    const config = join(home, 'mcp.json');
    const env = { MCP_API_URL: `${house.running.url}/api`, MCPBRIDGE_HOME: house.running.home };
    const bridge = { command: process.execPath, args: [bridgeFile], env };
    await writeFile(config, JSON.stringify({ mcpServers: { bridge } }));
    const flags = ['--mcp-config', config, '--strict-mcp-config', '--allowedTools', 'mcp__bridge'];
    const out = await run(process.execPath, [wrapper, '-p', 'Ask.', ...flags, '--output-format', 'json'], {
      cwd: home,
      env: {
        ...secludedEnv(home),
        ANTHROPIC_BASE_URL: claude.url,
        ANTHROPIC_API_KEY: 'none',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      },
    });
    expect(JSON.parse(out).result).toContain('The agent was told: step_7 is done');
    expect(house.ledger).toEqual(['step_7']);
  } finally {
    await house.stop();
    await claude.stop();
    await brain.stop();
    await rm(home, { recursive: true, force: true });
  }
}, 300_000);
