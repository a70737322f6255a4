// Uses @langchain/mcp-adapters of the folder given first; the task is the second argument, the outcome goes to stdout.
import { createRequire } from 'node:module';

const [folder, task] = process.argv.slice(2);
const { MultiServerMCPClient } = createRequire(`${folder}/`)('@langchain/mcp-adapters');
const { entry, tool, args } = JSON.parse(task);

const client = new MultiServerMCPClient({ mcpServers: { bridge: { transport: 'stdio', ...entry } } });
const tools = await client.getTools();
const text = await tools.find(({ name }) => name === tool).invoke(args);
await client.close();
process.stdout.write(JSON.stringify({ tools: tools.map(({ name }) => name), text }));
