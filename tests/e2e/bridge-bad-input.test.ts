import { writeFile } from 'node:fs/promises';
import { describe, expect, test } from '@jest/globals';
import { ended, eventually } from '../support/processes.js';
import { inFolder, startBridge, toolList } from '../support/spawned-bridge.js';

/** Starts it and waits until it has given up; answers the line on stderr. */
async function refusal(env: NodeJS.ProcessEnv, args: string[] = []): Promise<string> {
  const bridge = startBridge(env, args);
  const closed = new Promise((done) => bridge.process.stderr?.once('close', done));
  expect(await ended(bridge.process)).toEqual({ code: 2, signal: null });
  await closed;
  expect(bridge.frames).toEqual([]);
  expect(bridge.noise).toEqual([]);
  expect(bridge.stderr).toMatch(/^mcpbridge: [^\n]+\n$/);
  return bridge.stderr;
}

describe('a setting that cannot be used is one line and exit 2', () => {
  test.each([
    [{ MCP_TOOLS: '[{"name": "a",}]' }, /MCP_TOOLS is not JSON: .*unset it to discover/],
    [{ MCP_TOOLS: '{"name": "a"}' }, /MCP_TOOLS must be a JSON array/],
    [{ MCP_TOOLS: '["a"]' }, /MCP_TOOLS\[0\] is not an object/],
    [{ MCP_TOOLS: '[{"name": "a"}, {"description": "b"}]' }, /MCP_TOOLS\[1\] has no "name"/],
    [{ MCP_TOOLS: toolList('a', 'b', 'a') }, /MCP_TOOLS has two tools named "a"/],
    [{ MCP_TOOLS: '[{"name": "a", "type": "mcp"}]' }, /"a".*without a "server"/],
    [{ MCP_TOOLS: '[]', MCP_TOOLS_FILE: '/x' }, /both set/],
    [{ MCP_TOOLS_FILE: '/no/such/file' }, /MCP_TOOLS_FILE cannot be read: ENOENT/],
    [{ MCP_TOOLS: '[]', MCP_INSTRUCTIONS_FILE: '/none' }, /MCP_INSTRUCTIONS_FILE cannot be read: ENOENT/],
    [{ MCP_API_URL: 'localhost:8080' }, /MCP_API_URL is "localhost:8080": set it to an http or https/],
    [{ MCP_API_URL: 'ftp://host' }, /MCP_API_URL is "ftp:\/\/host"/],
    [{ MCP_SESSION_ID: 'a b' }, /MCP_SESSION_ID is "a b"/],
    [{ MCP_API_TOKEN: 'a\nb' }, /MCP_API_TOKEN has characters/],
    [{ MCP_VIRTUAL_SCOPE_ID: 'ü' }, /MCP_VIRTUAL_SCOPE_ID has characters/],
    [{ MCP_TOOL_TIMEOUT: 'soon' }, /MCP_TOOL_TIMEOUT is "soon": set it to a time/],
    [{ MCP_CONNECT_TIMEOUT: '-1s' }, /MCP_CONNECT_TIMEOUT is "-1s"/],
  ])('%j', async (env, line) => {
    expect(await refusal(env)).toMatch(line);
  });

  test('also in a file of tools, whose name is said', async () => {
    const path = inFolder('tools.json');
    await writeFile(path, '[{}]');
    expect(await refusal({ MCP_TOOLS_FILE: path })).toContain(`${path}[0] has no "name"`);
  });

  test('also an argument that is not known', async () => {
    expect(await refusal({}, ['docter'])).toMatch(/"docter" is not known; see mcpbridge --help/);
  });
});

describe('a line on stdin', () => {
  const start = () => startBridge({ MCP_API_URL: 'http://127.0.0.1:1', MCP_TOOLS: toolList('echo') });

  test.each([
    ['{"jsonrpc": "2.0", ', -32700],
    ['hello', -32700],
    ['"hello"', -32600],
    ['[]', -32600],
    ['[1]', -32600],
    ['{}', -32600],
    ['{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600],
    ['{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600],
  ])('%s is answered with an error, and the next one as ever', async (line, code) => {
    const bridge = start();
    bridge.process.stdin?.write(`${line}\n`);
    expect(await bridge.waitFor(({ error }) => error)).toMatchObject({ id: null, error: { code } });
    expect((await bridge.request('ping')).result).toEqual({});
    expect(bridge.frames).toHaveLength(2);
  });

  test('that is empty is passed over, and a carriage return at its end does no harm', async () => {
    const bridge = start();
    bridge.process.stdin?.write('\n\r\n  \n{"jsonrpc":"2.0","id":1,"method":"ping"}\r\n');
    expect((await bridge.answerTo(1)).result).toEqual({});
    expect(bridge.frames).toHaveLength(1);
  });
});

test('a log or ready file that cannot be written is said, and the bridge works', async () => {
  const env = {
    MCP_TOOLS: toolList('echo'),
    MCP_BRIDGE_LOG: '/no/such/log',
    MCP_READY_FILE: '/no/such/ready',
  };
  const bridge = startBridge(env);
  expect((await bridge.request('tools/list')).result.tools).toHaveLength(1);
  await bridge.request('ping');
  const said = /MCP_BRIDGE_LOG cannot be written.*\n.*MCP_READY_FILE cannot be written/;
  await eventually('both are said', () => said.test(bridge.stderr));
});

test('--version and --help are answered on stdout', async () => {
  for (const [argument, said] of [
    ['--version', /^\d+\.\d+\.\d+$/],
    ['--help', /mcpbridge doctor/],
  ] as const) {
    const bridge = startBridge({}, [argument]);
    const closed = new Promise((done) => bridge.process.stdout?.once('close', done));
    expect(await ended(bridge.process)).toEqual({ code: 0, signal: null });
    await closed;
    expect(bridge.noise.join('\n')).toMatch(said);
  }
});
