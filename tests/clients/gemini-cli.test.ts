import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startFakeGemini } from './fake-gemini.mjs';
import { describeAgent } from './support/describe-agent.js';
import { installNpm } from './support/install.js';
import { run, secludedEnv } from './support/run.js';

describeAgent('Gemini CLI', {
  startModel: startFakeGemini,
  nameOf: (tool) => ({ use: `mcp_bridge_${tool}` }),
  async ask({ entry, modelUrl, home }) {
    const config = {
      security: { auth: { selectedType: 'gemini-api-key' } },
      mcpServers: { bridge: { ...entry, trust: true } },
    };
    await mkdir(join(home, '.gemini'));
    await writeFile(join(home, '.gemini', 'settings.json'), JSON.stringify(config));
    const folder = await installNpm('gemini-cli', { '@google/gemini-cli': '0.61.0' });
    const gemini = `${folder}/node_modules/@google/gemini-cli/bundle/gemini.js`;
    const args = ['--model', 'gemini-2.5-flash', '--output-format', 'json', '--prompt', 'Use the tool.'];
    const env = {
      ...secludedEnv(home),
      GEMINI_API_KEY: 'none',
      GOOGLE_GEMINI_BASE_URL: modelUrl,
      GEMINI_CLI_TRUST_WORKSPACE: 'true',
    };
    return JSON.parse(await run(process.execPath, [gemini, ...args], { cwd: home, env })).response;
  },
});
