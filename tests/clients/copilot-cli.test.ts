import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startFakeAnthropic } from './fake-anthropic.mjs';
import { describeAgent } from './support/describe-agent.js';
import { installNpm } from './support/install.js';
import { run, secludedEnv } from './support/run.js';

describeAgent('Copilot CLI', {
  startModel: startFakeAnthropic,
  nameOf: (tool) => ({ use: `bridge-${tool}` }),
  async ask({ entry, modelUrl, home }) {
    const bridge = { type: 'local', ...entry, tools: ['*'] };
    await mkdir(join(home, '.copilot'));
    await writeFile(join(home, '.copilot', 'mcp-config.json'), JSON.stringify({ mcpServers: { bridge } }));
    const folder = await installNpm('copilot-cli', { '@github/copilot': '1.0.102' });
    const env = {
      ...secludedEnv(home),
      COPILOT_PROVIDER_BASE_URL: modelUrl,
      COPILOT_PROVIDER_TYPE: 'anthropic',
      COPILOT_PROVIDER_API_KEY: 'none',
      COPILOT_MODEL: 'claude-sonnet-4.5',
    };
    const args = ['--prompt', 'Use the tool.', '--silent', '--allow-tool=bridge'];
    // It prints every text of the model; the last is the answer.
    const said = await run(`${folder}/node_modules/.bin/copilot`, args, { cwd: home, env });
    return said.slice(said.lastIndexOf('The tool said'));
  },
});
