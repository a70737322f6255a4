import { afterEach } from '@jest/globals';
import { type AgentSession, type BridgeConfig, createAgentSession } from '@mcpbridge/agent-session';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { plainEnv } from './processes.js';

const opened: { close(): Promise<unknown> }[] = [];

afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

/** As createAgentSession; closed with the test. */
export const openSession: typeof createAgentSession = async (options) => {
  const session = await createAgentSession(options);
  opened.push(session);
  return session;
};

/** A client of the SDK that has spawned the built bridge by this entry; closed with the test. */
export async function connect({ command, args, env }: BridgeConfig): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } });
  const whole = { PATH: plainEnv().PATH ?? '', MCPBRIDGE_HOME: '/nonexistent', ...env };
  await client.connect(new StdioClientTransport({ command, args, env: whole }));
  opened.push(client);
  return client;
}

export const connectTo = (session: AgentSession) => connect(session.bridgeConfig());

/** The text of a tool's answer, and whether it is a failure. */
export async function callText(client: Client, name: string, args: Record<string, unknown> = {}) {
  const { content, isError } = await client.callTool({ name, arguments: args });
  const [block] = content;
  return { text: block?.type === 'text' ? block.text : undefined, failed: isError === true };
}
