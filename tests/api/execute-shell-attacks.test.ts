import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { encodeGuard, GUARD_HEADER } from '../../packages/shared/dist/folder-guard.js';
import { verifies } from '../requirements.js';
import { api } from '../support/api.js';
import { commandsOf, installBubblewrap, processesWith, underFilter } from '../support/commands.js';
import { describeShellAttacks } from '../support/describe-shell-attacks.js';
import { startOrchestrator } from '../support/orchestrator.js';
import { eventually } from '../support/processes.js';
import { guard } from '../support/workspace-folder.js';
import { startWorkspace } from '../support/workspaces.js';

for (const sandbox of ['bubblewrap', 'landlock'])
  describeShellAttacks('embedded', sandbox, async (env) => {
    installBubblewrap();
    // Not below /tmp, which is a folder of its own to a command.
    const folder = await mkdtemp('/var/tmp/mcpbridge-test-');
    const running = await startOrchestrator({ env: { ...env, WORKSPACE_DIR: folder } });
    return {
      running,
      folder,
      pid: running.process.pid,
      async kill() {
        running.process.kill('SIGKILL');
      },
      async stop() {
        await running.stop();
        await rm(folder, { recursive: true, force: true });
      },
    };
  });

/** What becomes a command line that sees no control groups, as other users have it; root's would have some. */
const withoutGroups =
  process.getuid?.() === 0
    ? ['unshare', '-m', 'sh', '-c', 'mount -t tmpfs none /sys/fs/cgroup && exec "$@"', 'sh']
    : [];

/** A workspace that holds its commands' processes together by what the system says of them. */
async function startWithoutGroups(wrapper: string[] = []) {
  const workspace = await startWorkspace({ SHELL_SANDBOX: 'landlock' }, [...withoutGroups, ...wrapper]);
  const headers = { authorization: `Bearer ${workspace.token}` };
  const ask = async (path: string, body?: object) => {
    const init = body ? { method: 'POST', body: JSON.stringify(body) } : {};
    const response = await fetch(workspace.url + path, { headers, ...init });
    return (await response.json()) as Record<string, unknown>;
  };
  expect((await ask('/health')).shell).toMatchObject({ sandbox: 'landlock', processes_held_by: 'group' });
  return { workspace, ask };
}

test('a daemon that hides is found where there are no control groups, too', async () => {
  const { workspace, ask } = await startWithoutGroups();
  const long = ask('/api/execute', { command: 'setsid sleep 86387 & wait', timeout: 3 });
  const hide = '(env -i setsid sh -c "trap : TERM; setsid sleep 86386 & sleep 86385" >/dev/null 2>&1 &)';
  expect((await ask('/api/execute', { command: `${hide}; sleep 0.2; echo left` })).stdout).toBe('left\n');
  expect([...processesWith('86386'), ...processesWith('86385')]).toEqual([]);
  // Those of a command that runs stay with it.
  expect(processesWith('86387')).toHaveLength(1);
  expect(await long).toMatchObject({ ended_by: 'timeout' });
  expect(processesWith('86387')).toEqual([]);
  await workspace.stop();
});

test('a service that is under a filter itself, as in a container, keeps its own programs when a command ends', async () => {
  const { workspace, ask } = await startWithoutGroups(underFilter);
  await ask('/api/execute', { command: 'sleep 86384', background: true });
  expect(await ask('/api/execute', { command: 'echo over' })).toMatchObject({ stdout: 'over\n' });
  // The program that ends what runs when the service is gone is one of them.
  workspace.process.kill('SIGKILL');
  await eventually('nothing of it runs', () => processesWith('86384').length === 0);
  await workspace.stop();
});

test('a command that the system does not start is refused with the reason, and takes none of its session along', async () => {
  // An eighth of what the system takes else: less in arguments and variables than a command may be given.
  const wrapper = ['/bin/sh', '-c', 'ulimit -s 1024; exec "$@"', 'sh'];
  const workspace = await startWorkspace({ SHELL_SANDBOX: 'landlock' }, wrapper);
  const ask = async (body: object) => {
    const headers = { authorization: `Bearer ${workspace.token}` };
    const path = `${workspace.url}/api/execute`;
    return (await fetch(path, { method: 'POST', headers, body: JSON.stringify(body) })).json();
  };
  await ask({ command: 'sleep 86381', background: true });
  await eventually('it runs', () => processesWith('86381').length > 0);
  const env = Object.fromEntries(
    Array.from({ length: 9 }, (_, index) => [`VAR_${index}`, 'x'.repeat(100_000)]),
  );
  const message = expect.stringContaining('E2BIG');
  expect(await ask({ command: 'true', env })).toMatchObject({
    error: { code: 'SANDBOX_UNAVAILABLE', message },
  });
  expect(processesWith('86381')).toHaveLength(1);
  await workspace.stop();
});

verifies('shell.one-way-out', async () => {
  const running = await startOrchestrator({ env: { SHELL_SANDBOX: 'landlock' } });
  const { id } = (await api(running).post('/api/sessions').send({ network: 'orchestrator' })).body;
  const reached: string[] = [];
  const others = ['127.0.0.1', '::1'].map((host) =>
    createServer((socket) => {
      reached.push(host);
      socket.destroy();
    }).listen(0, host),
  );
  await Promise.all(others.map((server) => once(server, 'listening')));
  const [port = 0, port6 = 0] = others.map((server) => (server.address() as AddressInfo).port);
  const socketPath = `${running.home}/${running.port}.sock`;
  // Each prints what the system said; 0 is a connection.
  const attempts = `
    use Socket; use Socket qw(IPPROTO_UDP inet_pton pack_sockaddr_in6);
    sub told { printf "%s %d\\n", $_[0], $_[1] ? 0 : $!+0 }
    sub tcp { socket(my $s, AF_INET, SOCK_STREAM, $_[0] // 0) or return; $s }
    my $in = sub { pack_sockaddr_in($_[0], inet_aton($_[1])) };
    told("orchestrator", connect(tcp(), $in->(44080, "127.0.0.1")));
    told("its own port", connect(tcp(), $in->(${running.port}, "127.0.0.1")));
    told("another port", connect(tcp(), $in->(${port}, "127.0.0.1")));
    told("another host", connect(tcp(), $in->(44080, "127.0.0.2")));
    told("metadata", connect(tcp(), $in->(44080, "169.254.169.254")));
    told("again", do { my $s = tcp(); connect($s, $in->(44080, "127.0.0.1")); connect($s, $in->(${port}, "127.0.0.1")) });
    told("no socket", connect(STDIN, $in->(${port}, "127.0.0.1")));
    told("fast open", defined send(tcp(), "x", 0x20000000, $in->(${port}, "127.0.0.1")));
    told("multipath", tcp(262));
    told("IPv6", socket(my $six, AF_INET6, SOCK_STREAM, 0));
    told("UDP", socket(my $udp, AF_INET, SOCK_DGRAM, 0));
    told("raw", socket(my $raw, AF_INET, SOCK_RAW, 1));
    told("unix", socket(my $unix, AF_UNIX, SOCK_STREAM, 0));
    told("netlink", socket(my $netlink, 16, SOCK_RAW, 0));
    told("pair", socketpair(my $a, my $b, AF_UNIX, SOCK_STREAM, 0));
    told("pair to path", connect($a, pack_sockaddr_un("${socketPath}")));
    told("listen", listen(tcp(), 1));
    told("bind", bind(tcp(), $in->(0, "127.0.0.1")));
  `;
  const { stdout, stderr } = await commandsOf(running).run(id, 'perl -', { stdin: attempts });
  expect(stderr).toBe('');
  const told = Object.fromEntries(
    stdout
      .trim()
      .split('\n')
      .map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]),
  );
  const [refused, forbidden] = [111, 1];
  expect(told).toEqual({
    orchestrator: 0,
    'its own port': refused,
    'another port': refused,
    'another host': refused,
    metadata: refused,
    again: refused,
    'no socket': refused,
    'fast open': forbidden,
    multipath: forbidden,
    IPv6: forbidden,
    UDP: forbidden,
    raw: forbidden,
    unix: forbidden,
    netlink: forbidden,
    pair: 0,
    'pair to path': refused,
    listen: forbidden,
    bind: forbidden,
  });
  expect([reached, port6 > 0]).toEqual([[], true]);
  for (const server of others) server.close();
  await running.stop();
});

test('a command that may reach an orchestrator of which the workspace knows nothing is refused, with what to set', async () => {
  const workspace = await startWorkspace();
  const ask = async (network: 'none' | 'orchestrator') => {
    const answer = await fetch(`${workspace.url}/api/execute`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${workspace.token}`,
        [GUARD_HEADER]: encodeGuard(guard({ network })),
      },
      body: JSON.stringify({ command: 'true' }),
    });
    return [answer.status, await answer.json()];
  };
  expect(await ask('none')).toMatchObject([200, { exit_code: 0 }]);
  const message = expect.stringContaining('set MCP_API_URL');
  expect(await ask('orchestrator')).toMatchObject([501, { error: { code: 'SANDBOX_UNAVAILABLE', message } }]);
  await workspace.stop();
});

test('commands are jailed also by a Node whose threads have rings of io_uring, as from version 22, and get none', async () => {
  const workspace = await startWorkspace({ SHELL_SANDBOX: 'landlock', UV_USE_IO_URING: '1' });
  const answer = await fetch(`${workspace.url}/api/execute`, {
    method: 'POST',
    headers: { authorization: `Bearer ${workspace.token}` },
    // io_uring_setup, and what the system said: there is no such call.
    body: JSON.stringify({ command: 'perl -e \'$ring = "\\0" x 120; syscall(425, 8, $ring); print $!+0\'' }),
  });
  expect(((await answer.json()) as { stdout: string }).stdout).toBe('38');
  await workspace.stop();
});

test('a folder that is blocked within another cannot be kept by Landlock, so the command is refused', async () => {
  const running = await startOrchestrator({ env: { SHELL_SANDBOX: 'landlock' } });
  const folders = { write: ['work'], blocked: ['work/secret'] };
  const { id } = (await api(running).post('/api/sessions').send({ folders })).body;
  const refused = await api(running, id).post('/api/execute').send({ command: 'ls' });
  expect([refused.status, refused.body.error.code]).toEqual([501, 'SANDBOX_UNAVAILABLE']);
  await running.stop();
});

test('a folder above a blocked one cannot be renamed to uncover it', async () => {
  installBubblewrap();
  const running = await startOrchestrator({ env: { SHELL_SANDBOX: 'bubblewrap' } });
  const folders = { write: ['work'], blocked: ['work/a/b/secret'] };
  const { id } = (
    await api(running)
      .post('/api/sessions')
      .send({ folders: { write: ['work'] } })
  ).body;
  await commandsOf(running).run(id, 'mkdir -p work/a/b/secret; echo hidden > work/a/b/secret/file');
  const guarded = (await api(running).post('/api/sessions').send({ folders })).body;
  const { stdout } = await commandsOf(running).run(
    guarded.id,
    'mv work/a work/c; mv work/a/b work/a/d; mv work/a/b/secret work/s; ls work/a; cat work/*/*/secret/file work/s/file',
  );
  expect(stdout).toBe('b\n');
  expect(await readFile(join(running.workspace, 'work/a/b/secret/file'), 'utf8')).toBe('hidden\n');
  await running.stop();
});

verifies('shell.fails-closed', async () => {
  // Not of this system, so nothing confines a command.
  const closed = await startOrchestrator({ env: { SHELL_SANDBOX: 'sandbox-exec' } });
  const refused = await api(closed).post('/api/execute').send({ command: 'true' });
  expect([refused.status, refused.body.error.code]).toEqual([501, 'SANDBOX_UNAVAILABLE']);
  expect(refused.body.error.message).toContain('SHELL_SANDBOX=unsafe');
  expect((await api(closed).get('/health')).body.shell).toMatchObject({ available: false });
  await closed.stop();

  const open = await startOrchestrator({ env: { SHELL_SANDBOX: 'unsafe' } });
  expect((await api(open).get('/health')).body.shell).toMatchObject({ available: true, sandbox: 'unsafe' });
  const { stdout } = await commandsOf(open).run('any', `cat ${open.configFile}; env`);
  expect(stdout).toContain('mcpServers');
  expect(stdout).not.toContain('MCPBRIDGE_HOME');
  await open.stop();
});

test('what a killed service left is removed by the next', async () => {
  const first = await startOrchestrator();
  await commandsOf(first).run('any', 'true');
  first.process.kill('SIGKILL');
  const again = await startOrchestrator({ again: { ...first, port: 0 } });
  await commandsOf(again).run('any', 'true');
  expect(await readdir(join(again.workspace, '.mcpbridge-workspace/shell'))).toHaveLength(1);
  await again.stop();
});
