import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startFakeAnthropic } from './fake-anthropic.mjs';
import { describeAgent } from './support/describe-agent.js';
import { installNpm } from './support/install.js';
import { run, secludedEnv } from './support/run.js';

const model = 'claude-sonnet-4-5';

describeAgent('opencode', {
  startModel: startFakeAnthropic,
  nameOf: (tool) => ({ use: `bridge_${tool}` }),
  async ask({ entry, modelUrl, home }) {
    const { command, args, env: environment } = entry;
    const options = { baseURL: `${modelUrl}/v1`, apiKey: 'none' };
    const config = {
      model: `anthropic/${model}`,
      provider: { anthropic: { models: { [model]: {} }, options } },
      mcp: { bridge: { type: 'local', command: [command, ...args], environment } },
    };
    await writeFile(join(home, 'opencode.json'), JSON.stringify(config));
    const folder = await installNpm('opencode', { 'opencode-ai': '1.18.33' });
    const binary = `${folder}/node_modules/opencode-${process.platform}-${process.arch}/bin/opencode`;
    const env = {
      ...secludedEnv(home),
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_DISABLE_MODELS_FETCH: '1',
    };
    const output = await run(binary, ['run', '--format', 'json', 'Use the tool.'], { cwd: home, env });
    const events = output
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    return events.findLast((event) => event.type === 'text').part.text;
  },
});
