import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { afterEach, describe, expect, test } from '@jest/globals';
import { endAllGroups } from '@mcpbridge/shared/process-group.js';
import { ended, eventually, isAlive, startNode } from '../support/processes.js';
import { callTool, TestCaller, type Trace, textOf, Upstreams } from '../support/upstreams.js';

const upstreams = new Upstreams();
const caller = new TestCaller('session');
afterEach(() => upstreams.close());

async function pidFrom(file: string): Promise<number> {
  return Number(
    await eventually('the file holds a process id', () => readFile(file, 'utf8').catch(() => '')),
  );
}

function expectGone(pids: number[]): void {
  expect(pids.filter(isAlive)).toEqual([]);
}

describe('the end of a server', () => {
  test('closed stdin is enough for a server that heeds it, and no process is left', async () => {
    const trace = await upstreams.trace();
    const provider = upstreams.features({ TRACE_FILE: trace.file });
    await provider.refresh();
    await textOf(provider, caller, 'echo');
    await provider.close();
    expect(trace.matching(/stdin ended/)).toHaveLength(2);
    expect(trace.pids()).toHaveLength(2);
    expectGone(trace.pids());
  });

  test('a server that goes on after the end of stdin gets SIGTERM', async () => {
    const trace = await upstreams.trace();
    const provider = upstreams.features({ TRACE_FILE: trace.file, IGNORE_STDIN_END: '1' });
    await textOf(provider, caller, 'echo');
    await provider.close();
    expectGone(trace.pids());
  });

  test('a server that ignores SIGTERM is killed', async () => {
    const trace = await upstreams.trace();
    const provider = upstreams.features({ TRACE_FILE: trace.file, IGNORE_SIGTERM: '1' });
    await textOf(provider, caller, 'echo');
    await provider.close();
    expect(trace.lines()).toContain('ignored SIGTERM');
    expectGone(trace.pids());
  });

  test('a grandchild that holds the pipes open ends with its server', async () => {
    const [trace, file] = [await upstreams.trace(), await upstreams.file()];
    const provider = upstreams.features({ TRACE_FILE: trace.file, GRANDCHILD: file });
    await textOf(provider, caller, 'echo');
    const grandchild = await pidFrom(file);
    expect(isAlive(grandchild)).toBe(true);
    await provider.close();
    expectGone([...trace.pids(), grandchild]);
  });

  test('the grandchild of a server that crashed is ended, and the crash is told though the pipe is still open', async () => {
    const file = await upstreams.file();
    const provider = upstreams.features({ GRANDCHILD: file });
    await expect(callTool(provider, caller, 'crash')).rejects.toThrow(/exit code 7/);
    const grandchild = await pidFrom(file);
    await eventually('the grandchild is gone', () => !isAlive(grandchild));
  });

  test('an ended session leaves no process, another session keeps its own', async () => {
    const provider = upstreams.features();
    const pid = async (id: string) => Number(await textOf(provider, new TestCaller(id), 'pid'));
    const [one, two] = [await pid('one'), await pid('two')];
    expect(one).not.toBe(two);
    await provider.endSession('one');
    expect([isAlive(one), isAlive(two)]).toEqual([false, true]);
  });
});

describe('a server that closes a pipe and lives on', () => {
  for (const [pipe, close] of Object.entries({
    input: "process.stdin.destroy(); require('fs').closeSync(0);",
    output: "require('fs').closeSync(1);",
  })) {
    test(`its ${pipe}: the call is lost at once, and the process is ended`, async () => {
      const trace = await upstreams.trace();
      const script = `
        const note = (line) => require('fs').appendFileSync(${JSON.stringify(trace.file)}, line + '\\n');
        note('pid ' + process.pid);
        setInterval(() => {}, 1000);
        process.stdin.once('data', (line) => {
          const { id } = JSON.parse(line);
          const result = { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: {} };
          process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n', () => {
            ${close}
            note('closed');
          });
        });
      `;
      const transport = { kind: 'stdio' as const, command: process.execPath, args: ['-e', script], env: {} };
      const provider = upstreams.provider({ id: 'odd', transport, isolation: 'shared' });
      await provider.opened(caller);
      await trace.line(/^closed/);
      await expect(textOf(provider, caller, 'echo')).rejects.toMatchObject({
        code: 'CONNECTION_LOST',
        message: '"echo" was cut off: Server "odd" closed its pipe.',
      });
      await eventually('the process is gone', () => !trace.pids().some(isAlive));
    });
  }
});

describe('the end of the orchestrator', () => {
  const OWNER = `
    import { McpProvider } from '@mcpbridge/orchestrator/providers/mcp/mcp-provider.js';
    import { ProcessPlaces } from '@mcpbridge/orchestrator/providers/mcp/pool/process-places.js';
    import { createLog } from '@mcpbridge/orchestrator/log.js';
    const [server, how] = process.argv.slice(1);
    const { PATH, TRACE_FILE, GRANDCHILD } = process.env;
    const env = { TRACE_FILE, GRANDCHILD, IGNORE_STDIN_END: '1', IGNORE_SIGTERM: '1' };
    const entry = { id: 'x', isolation: 'session', transport: { kind: 'stdio', command: process.execPath, args: [server], env } };
    const options = { env: { PATH }, idleTimeoutMs: 0, maxMessageBytes: 1e6, places: new ProcessPlaces(9), log: createLog('none') };
    await new McpProvider(entry, options).refresh();
    console.log('ready');
    if (how === 'exit') process.exit(1);
    if (how === 'throw') setImmediate(() => { throw new Error('bug'); });
  `;

  async function own(
    how: string,
  ): Promise<{ trace: Trace; file: string; child: ReturnType<typeof startNode> }> {
    const [trace, file] = [await upstreams.trace(), await upstreams.file()];
    const { fixture, root } = await import('../support/processes.js');
    const args = ['--input-type=module', '-e', OWNER, fixture('features-server.mjs'), how];
    const child = startNode(args[0] ?? '', args.slice(1), { TRACE_FILE: trace.file, GRANDCHILD: file }, root);
    await once(createInterface({ input: child.stdout as NodeJS.ReadableStream }), 'line');
    return { trace, file, child };
  }

  for (const how of ['exit', 'throw', 'SIGKILL'] as const) {
    test(`by ${how} ends its servers and their children, stubborn as they are`, async () => {
      const { trace, file, child } = await own(how);
      if (how === 'SIGKILL') child.kill('SIGKILL');
      await ended(child);
      const pids = [...trace.pids(), await pidFrom(file)];
      expect(pids).toHaveLength(2);
      await eventually('all of them are gone', () => !pids.some(isAlive));
    });
  }
});

test('all groups can be ended at once, for the last moment of the program', async () => {
  const trace = await upstreams.trace();
  const env = { TRACE_FILE: trace.file, IGNORE_SIGTERM: '1' };
  await textOf(upstreams.features(env), caller, 'echo');
  await textOf(upstreams.features(env), caller, 'echo');
  endAllGroups();
  await eventually('both are gone', () => !trace.pids().some(isAlive));
  expect(trace.pids()).toHaveLength(2);
  expect(trace.matching(/SIGTERM/)).toEqual([]);
});

describe('the start of a server', () => {
  test('a command that does not exist is named, with what to look at', async () => {
    const transport = { kind: 'stdio' as const, command: 'no-such-command', args: [], env: {} };
    const provider = upstreams.provider({ id: 'lost', transport, isolation: 'session' });
    await expect(provider.refresh()).rejects.toMatchObject({
      code: 'PROVIDER_UNAVAILABLE',
      message: 'Server "lost": the command "no-such-command" was not found; is it installed and on PATH?',
    });
    expect(provider.health).toMatchObject({ state: 'failed', retryAt: expect.any(Number) });
  });

  test('a folder that does not exist is not taken for a missing command', async () => {
    const transport = {
      kind: 'stdio' as const,
      command: process.execPath,
      args: [],
      env: {},
      cwd: '/no/such/folder',
    };
    const provider = upstreams.provider({ id: 'lost', transport, isolation: 'session' });
    await expect(provider.refresh()).rejects.toThrow(
      'Server "lost": its folder "/no/such/folder" does not exist.',
    );
  });

  test('a server that ends while it starts is reported with its exit code and its last words', async () => {
    const provider = upstreams.features({ FAIL_START: '1' });
    await expect(provider.refresh()).rejects.toMatchObject({
      code: 'PROVIDER_UNAVAILABLE',
      message: 'Server "features" ended with exit code 3. Its last words: the key is missing',
    });
  });

  test('a server that never answers initialize is given up after its start time, and ended', async () => {
    const trace = await upstreams.trace();
    const env = { NEVER_INITIALIZE: '1', IGNORE_STDIN_END: '1', TRACE_FILE: trace.file };
    const provider = upstreams.features(env, { startTimeoutMs: 1500 });
    await expect(provider.refresh()).rejects.toThrow(
      'Server "features" was not ready within 1.5 s. It said: features server is up',
    );
    await provider.close();
    expect(trace.pids()).toHaveLength(1);
    expectGone(trace.pids());
  });

  test('the process sees the allow-listed part of our environment, what its entry adds and its mark, no more', async () => {
    const env = { HOME: '/home/x', PATH: process.env.PATH, LC_ALL: 'C', LANG: 'C.UTF-8', TMPDIR: '/tmp' };
    const hidden = {
      SECRET: 'x',
      NODE_EXTRA_CA_CERTS: '/x',
      NODE_OPTIONS: '--no-warnings',
      MCPBRIDGE_HOME: '/y',
    };
    const shellFunction = { TERM: '() { :; }; echo x' };
    const provider = upstreams.features({ MINE: 'yes' }, { env: { ...env, ...hidden, ...shellFunction } });
    expect(JSON.parse(await textOf(provider, caller, 'env'))).toEqual({
      ...env,
      MINE: 'yes',
      MCPBRIDGE_GROUP: expect.any(String),
    });
  });

  test('an entry may give what the allow-list would withhold', async () => {
    const provider = upstreams.features({ NODE_EXTRA_CA_CERTS: '/dev/null' });
    expect(JSON.parse(await textOf(provider, caller, 'env'))).toMatchObject({
      NODE_EXTRA_CA_CERTS: '/dev/null',
    });
  });
});
