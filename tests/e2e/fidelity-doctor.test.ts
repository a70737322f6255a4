import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type RunningOrchestrator, startOrchestrator } from '../support/orchestrator.js';
import { bridgeFile, ended, fixture, root } from '../support/processes.js';
import { featuresServer } from '../support/road.js';
import { StdioPeer } from '../support/stdio-peer.js';

const node = (file: string, ...args: string[]) => ({ command: process.execPath, args: [file, ...args] });
const everything = `${root}/node_modules/@modelcontextprotocol/server-everything/dist/index.js`;

let running: RunningOrchestrator;
beforeAll(async () => {
  running = await startOrchestrator({
    servers: {
      everything: node(everything, 'stdio'),
      awkward: node(fixture('fidelity-server.mjs')),
      broken: featuresServer(),
      dead: { command: 'no-such-command' },
    },
  });
});
afterAll(() => running.stop());

async function doctor(words: string[], address = `${running.url}/api`) {
  const env = { MCPBRIDGE_HOME: running.home, MCP_API_URL: address };
  const peer = StdioPeer.start(bridgeFile, env, ['doctor', ...words]);
  const closed = new Promise((done) => peer.process.stdout?.once('close', done));
  const { code } = await ended(peer.process);
  await closed;
  return { code, said: peer.noise.join('\n'), stderr: peer.stderr };
}

/** What is said of one client. */
const of = (client: string, said: string) => said.split(`\n  ${client}\n`)[1]?.split(/\n {2}\S/)[0] ?? '';

describe('doctor --fidelity', () => {
  test('finds nothing lost of a real server, and says what its clients will lose of it', async () => {
    const { code, said } = await doctor(['--fidelity', '--server', 'everything']);
    expect(said).toMatch(
      /^server {2}everything: \d+ tools, \d+ resources, \d+ resource templates, \d+ prompts$/m,
    );
    expect(said).toMatch(/^same +\/mcp\/everything through the bridge$/m);
    expect(said).toMatch(/^same +\/mcp through the bridge, but for prefixed names$/m);
    expect(of('Claude Code', said)).toContain(
      'hands on the structured content alone of the results of: everything__get-structured-content',
    );
    expect(of('Claude Code', said)).not.toContain('never asks for the prompts');
    expect(of('Codex', said)).toContain('never asks for the prompts: everything__simple-prompt');
    expect(of('Codex', said)).toContain('spells the tools in another way: everything__');
    expect(of('Copilot CLI', said)).toContain('images in results do not reach the model');
    expect(said).toMatch(/\nNothing is lost on the way\.$/);
    expect(code).toBe(0);
  });

  test('speaks of the names that are seen at the address that is set', async () => {
    const { code, said } = await doctor(['--fidelity'], `${running.url}/mcp/awkward`);
    const long = 'long'.repeat(30);
    expect(of('Claude Code', said)).toContain(`drops the tools, for the length of their names: ${long}`);
    expect(of('Claude Code', said)).toContain('keeps one of them: dotted.name-1, dotted_name-1');
    expect(of('OpenAI Agents', said)).toContain('refuses to start: dotted.name-1, dotted_name-1');
    expect(of('Gemini CLI', said)).toContain(`spells the tools in another way: ${long}`);
    expect(of('Codex', said)).toContain('shows no view of the tools: whole');
    expect(of('Mastra', said)).not.toContain('shows no view');
    expect(said).not.toContain('server  everything');
    expect(code).toBe(0);
    const { said: among } = await doctor(['--fidelity', '--server', 'awkward']);
    expect(of('Claude Code', among)).not.toContain('drops');
  });

  test('names what is set aside and why, leaves out what is down, and then fails', async () => {
    const { code, said } = await doctor(['--fidelity']);
    expect(said).toMatch(/^LOST +the orchestrator’s check of the definitions:$/m);
    expect(said).toContain('    broken: is set aside, its inputSchema is not an object');
    expect(said).toMatch(/^server {2}dead: left out, it is failed$/m);
    expect(said).toMatch(/\nSomething is lost on the way\.$/);
    expect(code).toBe(1);
  });

  test('says which server is meant when there is none of the name', async () => {
    const { code, said } = await doctor(['--fidelity', '--server', 'everythin']);
    expect(said).toMatch(/FAILED .*no server "everythin".*everything/);
    expect(code).toBe(1);
  });

  test.each(['/mcp/awkward/', '/api/mcp/awkward'])('takes the address of one server as %s', async (path) => {
    const { code, said } = await doctor([], running.url + path);
    expect(said).toMatch(/^address http\S+ \(\/mcp\/awkward alone\)$/m);
    expect(said).toMatch(/^tools +5, listed/m);
    expect(code).toBe(0);
  });

  test('refuses words that it does not know with one line', async () => {
    const { code, stderr } = await doctor(['--fidelty']);
    expect(stderr).toBe('mcpbridge: "--fidelty" is not known to doctor; see mcpbridge --help.\n');
    expect(code).toBe(2);
  });
});
