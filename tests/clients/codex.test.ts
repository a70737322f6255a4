import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startFakeOpenAi } from './fake-openai.mjs';
import { describeAgent, type Prompt } from './support/describe-agent.js';
import { installNpm } from './support/install.js';
import { run, secludedEnv } from './support/run.js';

describeAgent('Codex', {
  startModel: startFakeOpenAi,
  nameOf: (tool) => ({ namespace: 'mcp__bridge', use: tool.replaceAll('-', '_') }),
  async ask(prompt) {
    const { home } = prompt;
    await mkdir(join(home, '.codex'));
    await writeFile(join(home, '.codex', 'config.toml'), config(prompt));
    const folder = await installNpm('codex', { '@openai/codex': '0.171.0' });
    const codex = `${folder}/node_modules/@openai/codex/bin/codex.js`;
    const args = ['exec', '--skip-git-repo-check', 'Use the tool.'];
    return run(process.execPath, [codex, ...args], { cwd: home, env: secludedEnv(home) });
  },
});

/** Without `required`, Codex runs on without the tools of a server that took over a second to start. */
const config = ({ modelUrl, entry }: Prompt) => `
model = "scripted"
model_provider = "local"

[model_providers.local]
name = "local"
base_url = "${modelUrl}/v1"
wire_api = "responses"

[mcp_servers.bridge]
command = ${JSON.stringify(entry.command)}
args = ${JSON.stringify(entry.args)}
required = true
default_tools_approval_mode = "approve"

[mcp_servers.bridge.env]
${Object.entries(entry.env)
  .map(([name, value]) => `${name} = ${JSON.stringify(value)}`)
  .join('\n')}
`;
