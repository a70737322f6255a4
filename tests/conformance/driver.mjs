// The client that the suite starts: the SDK's own, straight at the suite's server or with the orchestrator between.
// node driver.mjs URL; DRIVER_ERA (legacy, modern) is the era of this client, DRIVER_THROUGH=orchestrator the way.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { startOrchestrator } from './processes.mjs';
import { entryFor, signedInTransport, signInThrough } from './signing-in.mjs';

const { DRIVER_ERA, DRIVER_THROUGH, MCP_CONFORMANCE_SCENARIO, MCP_CONFORMANCE_CONTEXT } = process.env;

/** The tool calls of each scenario that wants some; the tools are those that the client was shown. */
const calls = {
  tools_call: () => [{ name: 'add_numbers', arguments: { a: 5, b: 3 } }],
  'elicitation-sep1034-client-defaults': all,
  'sse-retry': all,
  'sep-2322-client-request-state': all,
  'http-standard-headers': all,
  'http-custom-headers': () => JSON.parse(MCP_CONFORMANCE_CONTEXT ?? '{}').toolCalls ?? [],
  'http-invalid-tool-headers': all,
  'json-schema-2020-12-preservation': (tools) => {
    const schema = tools.find(({ name }) => name === 'json_schema_2020_12_tool')?.inputSchema;
    return [{ name: 'json_schema_echo', arguments: { schema } }];
  },
};

/** Each tool once; only `valid_tool` of the header scenario needs an argument. */
function all(tools) {
  return tools.map(({ name }) => ({
    name,
    arguments: name === 'valid_tool' ? { region: 'us-west1' } : {},
  }));
}

async function drive({ url, headers, transport = () => plain(url, headers), signIn }) {
  const client = new Client(
    { name: 'conformance-driver', version: '1.0.0' },
    {
      capabilities: { elicitation: { form: { applyDefaults: true } }, sampling: {}, roots: {} },
      versionNegotiation: { mode: DRIVER_ERA === 'modern' ? 'auto' : 'legacy' },
    },
  );
  client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: {} }));
  const connect = async () => client.connect(await transport());
  await (signIn ? signIn(connect) : connect());
  const failures = await use(client, signIn);
  await client.close();
  if (failures.length > 0) throw new AggregateError(failures, failures.map(String).join('\n'));
}

const plain = (url, headers) => new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });

/** Lists and calls; what fails is answered and does not keep the rest from being done. */
async function use(client, signIn) {
  const failures = [];
  const attempt = (step) => step().catch((error) => void failures.push(error));
  const has = client.getServerCapabilities() ?? {};
  const listed = has.tools && (await attempt(() => client.listTools()));
  for (const call of calls[MCP_CONFORMANCE_SCENARIO]?.(listed?.tools ?? []) ?? []) {
    await attempt(() => (signIn ? signIn(() => client.callTool(call)) : client.callTool(call)));
  }
  const resources = has.resources && (await attempt(() => client.listResources()));
  for (const { uri } of resources?.resources ?? []) await attempt(() => client.readResource({ uri }));
  const prompts = has.prompts && (await attempt(() => client.listPrompts()));
  for (const { name } of prompts?.prompts ?? []) await attempt(() => client.getPrompt({ name }));
  return failures;
}

const url = process.argv.at(-1);
const isAuth = MCP_CONFORMANCE_SCENARIO?.startsWith('auth/');
const context = JSON.parse(MCP_CONFORMANCE_CONTEXT ?? '{}');
if (isAuth) calls[MCP_CONFORMANCE_SCENARIO] = all;
if (DRIVER_THROUGH === 'orchestrator') {
  const orchestrator = await startOrchestrator({ suite: isAuth ? entryFor(url, context) : { url } });
  try {
    const headers = { authorization: `Bearer ${orchestrator.token}` };
    const signIn = isAuth ? await signInThrough(orchestrator, headers) : undefined;
    await drive({ url: `${orchestrator.url}/mcp/suite`, headers, signIn });
  } catch (error) {
    console.error(orchestrator.output());
    throw error;
  } finally {
    await orchestrator.stop();
  }
} else if (isAuth) {
  const { transport, signIn } = signedInTransport(url, context, DRIVER_ERA);
  await drive({ url, headers: {}, transport, signIn });
} else await drive({ url, headers: {} });
