import { fileURLToPath } from 'node:url';
import { describeClient } from './support/describe-client.js';
import { installNpm } from './support/install.js';
import { run } from './support/run.js';

const driver = fileURLToPath(new URL('./drivers/langchain.mjs', import.meta.url));
const packages = { '@langchain/mcp-adapters': '1.1.4', '@langchain/core': '1.4.0' };

describeClient('LangChain JS', async (task) => {
  const folder = await installNpm('langchain', packages);
  return JSON.parse(await run(process.execPath, [driver, folder, JSON.stringify(task)]));
});
