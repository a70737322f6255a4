import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type RunningExecutor, startExecutor } from '../fixtures/executor.mjs';
import { type Exchange, type RunningEndpoint, startEndpoint } from '../fixtures/mcp-endpoint.mjs';
import { inFolder, modernMeta, startBridge, toolList } from '../support/spawned-bridge.js';
import type { Frame } from '../support/stdio-peer.js';
import { WAYS } from '../support/ways.js';

let executor: RunningExecutor;
let endpoint: RunningEndpoint;

beforeEach(async () => {
  executor = await startExecutor();
  endpoint = await startEndpoint();
});
afterEach(() => Promise.all([executor.stop(), endpoint.stop()]));

const MIB = 1024 * 1024;
const EMOJI = '👩‍👩‍👧🏳️‍🌈';

describe.each(WAYS)('a message of 20 MB %s', (_way, way) => {
  beforeEach(async () => {
    await Promise.all([executor.stop(), endpoint.stop()]);
    executor = await startExecutor(way());
    endpoint = await startEndpoint(way());
  });

  const text = EMOJI.repeat((20 * MIB) / Buffer.byteLength(EMOJI));

  test('travels both ways in transparent mode, every character whole', async () => {
    const bridge = startBridge({ MCP_API_URL: endpoint.url });
    const { result } = await bridge.callTool('echo', { text }, modernMeta);
    expect(result.content[0].text === text).toBe(true);
  });

  test('travels as an event', async () => {
    endpoint.answers['tools/call'] = ({ id, params }: Frame, exchange: Exchange) => {
      exchange.event({
        jsonrpc: '2.0',
        id,
        result: { content: [{ type: 'text', text: params.arguments.text }] },
      });
      exchange.end();
    };
    const bridge = startBridge({ MCP_API_URL: endpoint.url });
    const { result } = await bridge.callTool('echo', { text }, modernMeta);
    expect(result.content[0].text === text).toBe(true);
  });

  test('reaches the executor in listed mode', async () => {
    const bridge = startBridge({ MCP_API_URL: executor.url, MCP_TOOLS: toolList('nothing') });
    await bridge.callTool('nothing', { text });
    expect(JSON.parse(executor.requests[0]?.body ?? '').text === text).toBe(true);
  });
});

test('characters that are split over the chunks of a message stay whole', async () => {
  const bridge = startBridge({ MCP_API_URL: endpoint.url });
  const params = { name: 'echo', arguments: { text: EMOJI }, _meta: modernMeta };
  const bytes = Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })}\n`);
  for (const byte of bytes) {
    await new Promise((written) => bridge.process.stdin?.write(Buffer.from([byte]), written));
  }
  expect((await bridge.answerTo(1)).result.content[0].text).toBe(EMOJI);
});

describe('a message over 64 MiB', () => {
  const filler = Buffer.alloc(MIB, 'x');

  async function sendHuge(head: string, tail: string): Promise<Frame> {
    const bridge = startBridge({ MCP_API_URL: endpoint.url, MCP_TOOLS: '[]' });
    bridge.process.stdin?.write(head);
    for (let written = 0; written < 65; written++) bridge.process.stdin?.write(filler);
    bridge.process.stdin?.write(`${tail}\n`);
    const refused = await bridge.waitFor(({ error }) => error);
    expect((await bridge.request('ping')).result).toEqual({});
    expect(refused.error.code).toBe(-32600);
    expect(refused.error.message).toMatch(/65\.0 MiB is over the limit of 64 MiB/);
    return refused;
  }

  test('is refused under its id, which may stand at the head', async () => {
    const head = '{"jsonrpc":"2.0","id":"big","method":"tools/call","params":{"id":3,"text":"';
    expect((await sendHuge(head, '"}}')).id).toBe('big');
  });

  test('or at the end', async () => {
    const head = '{"method":"tools/call","params":{"arguments":{"id":3,"text":"';
    expect((await sendHuge(head, '"}},"jsonrpc":"2.0","id":4}')).id).toBe(4);
  });

  test('or nowhere', async () => {
    expect((await sendHuge('{"params":{"text":"', '","id":4}}')).id).toBeNull();
  });
});

describe('a text over 128 KiB in listed mode', () => {
  const start = (env: NodeJS.ProcessEnv = {}) =>
    startBridge({ MCP_API_URL: executor.url, MCP_TOOLS: toolList('big', 'a/b'), ...env });

  test('is cut at characters, and all of it is in a file for this user alone', async () => {
    const folder = inFolder('made/output');
    const bytes = 7 * 40_000;
    const { result } = await start({ MCP_TOOL_OUTPUT_DIR: folder }).callTool('big', {
      bytes,
      piece: '😀é1',
    });
    const [{ text }] = result.content;
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(128 * 1024);
    expect(text).toMatch(/^(😀é1)+/u);
    expect(text).not.toContain('\ufffd');
    expect(text).toContain(`the output has ${bytes} bytes`);
    const [file = ''] = await readdir(folder);
    expect(text).toContain(`${folder}/${file}`);
    expect(file).toMatch(/^tool_big_[0-9a-f]+\.txt$/);
    expect(await readFile(`${folder}/${file}`, 'utf8')).toBe('😀é1'.repeat(40_000));
    expect((await stat(`${folder}/${file}`)).mode & 0o777).toBe(0o600);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
  });

  test('has head and tail in the proportion of three to one', async () => {
    const env = { MCP_TOOL_OUTPUT_DIR: inFolder('out') };
    const { result } = await start(env).callTool('big', { bytes: 300_000 });
    const [head = '', tail = ''] = result.content[0].text.split(/\n\n… \[.*\] …\n\n/);
    expect(head.length / tail.length).toBeCloseTo(3, 1);
  });

  test('goes to a folder of the bridge alone where none is given', async () => {
    const { result } = await start().callTool('big', { bytes: 140_000 });
    const path = /all of it is in (\S+)\]/.exec(result.content[0].text)?.[1] ?? '';
    expect((await stat(path)).size).toBe(140_000);
    const folder = path.slice(0, path.lastIndexOf('/'));
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    await rm(folder, { recursive: true });
  });

  test('is cut also where nothing can be saved, and says so', async () => {
    await mkdir(inFolder('taken'));
    const { result } = await start({ MCP_TOOL_OUTPUT_DIR: '/dev/null/x' }).callTool('big', {
      bytes: 140_000,
    });
    expect(result.content[0].text).toMatch(/could not be saved: EN\w+/);
    expect(result.content[0].text.length).toBeLessThan(128 * 1024);
  });

  test('of exactly 128 KiB is not cut', async () => {
    const { result } = await start().callTool('big', { bytes: 128 * 1024 });
    expect(result.content[0].text).toHaveLength(128 * 1024);
  });
});
