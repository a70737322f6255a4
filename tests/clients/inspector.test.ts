import { describeClient, type Task } from './support/describe-client.js';
import { installNpm } from './support/install.js';
import { run } from './support/run.js';

const launcher = 'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js';

async function inspect({ entry }: Task, ...method: string[]) {
  const folder = await installNpm('inspector', { '@modelcontextprotocol/inspector': '2.12.0' });
  const env = Object.entries(entry.env).flatMap(([name, value]) => ['-e', `${name}=${value}`]);
  const server = [entry.command, ...entry.args];
  const flags = [...env, '--method', ...method, '--format', 'json', '-q'];
  return JSON.parse(await run(process.execPath, [`${folder}/${launcher}`, '--cli', ...server, ...flags]))
    .result;
}

describeClient('MCP Inspector --cli', async (task) => {
  const { tools } = await inspect(task, 'tools/list');
  const args = Object.entries(task.args).flatMap(([name, value]) => ['--tool-arg', `${name}=${value}`]);
  const { content } = await inspect(task, 'tools/call', '--tool-name', task.tool, ...args);
  return { tools: tools.map((tool: { name: string }) => tool.name), text: content[0].text };
});
