import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { verifies } from '../requirements.js';
import { api } from './api.js';
import { commandsOf, type Outcome, processesWith } from './commands.js';
import type { RunningOrchestrator } from './orchestrator.js';
import { eventually } from './processes.js';
import type { OrchestratedWorkspace } from './workspaces.js';

interface Means {
  /** May the workspace make namespaces? */
  namespaces: boolean;
}

/** What is promised of commands, for the workspace at one place. */
export function describeShell(
  name: string,
  start: () => Promise<OrchestratedWorkspace>,
  { namespaces }: Means,
): void {
  describe(`commands in a workspace that is ${name}`, () => {
    let place: OrchestratedWorkspace;
    let shell: ReturnType<typeof commandsOf>;
    beforeAll(async () => {
      place = await start();
      shell = commandsOf(place.running);
    });
    afterAll(() => place.stop());

    test('a command runs in the folder of its session and answers output, exit code and time', async () => {
      const outcome = await shell.run('first', 'pwd; echo hi > made.txt; echo ow >&2; exit 3');
      expect(outcome).toEqual({
        stdout: `${place.folder}/sessions/first\n`,
        stderr: 'ow\n',
        exit_code: 3,
        execution_time_ms: expect.any(Number),
      });
      const document = await api(place.running, 'first').get('/api/documents/made.txt');
      expect(document.body.content).toBe('hi\n');
    });

    test('a command reads what it is given, and nothing where it is given nothing', async () => {
      expect((await shell.run('in', 'cat', { stdin: 'wörter 🎉' })).stdout).toBe('wörter 🎉');
      expect((await shell.run('in', 'cat; test -t 0 || echo no terminal')).stdout).toBe('no terminal\n');
      expect((await shell.run('in', 'true', { stdin: 'x'.repeat(1_000_000) })).exit_code).toBe(0);
    });

    test('a command begins in the folder that is asked for, if the session may read it', async () => {
      await shell.run('where', 'mkdir -p a/b');
      expect((await shell.run('where', 'pwd', { working_directory: 'a/b' })).stdout).toMatch(
        /where\/a\/b\n$/,
      );
      for (const [folder, status] of [
        ['../first', 403],
        ['/etc', 403],
        ['nowhere', 404],
      ] as const)
        expect((await shell.post('where', { command: 'pwd', working_directory: folder })).status).toBe(
          status,
        );
    });

    test('a command gets variables of the names that may be given, and none of the service', async () => {
      const env = { VAR_ONE: 'one', SECRET_KEY: 'k' };
      const printed = (await shell.run('env', 'env', { env })).stdout;
      expect(printed).toContain('VAR_ONE=one\n');
      expect(printed).toContain('SECRET_KEY=k\n');
      expect(printed).not.toMatch(/WORKSPACE|MCPBRIDGE|NODE_|MCP_CONFIG/);
      for (const name of ['LD_PRELOAD', 'PATH', 'BASH_ENV', 'IFS']) {
        const refused = await shell.post('env', { command: 'env', env: { [name]: 'x' } });
        expect([refused.status, await refused.json()]).toMatchObject([
          400,
          { error: { code: 'INVALID_REQUEST' } },
        ]);
      }
    });

    test('more in variables than the system takes is refused with what to do', async () => {
      for (const env of [
        { VAR_LARGE: 'x'.repeat(200_000) },
        Object.fromEntries(Array.from({ length: 2000 }, (_, index) => [`VAR_${index}`, 'x'.repeat(1000)])),
      ]) {
        const refused = await shell.post('env', { command: 'true', env });
        const message = expect.stringMatching(/bytes.*stdin or in a file/);
        expect([refused.status, await refused.json()]).toMatchObject([
          400,
          { error: { code: 'INVALID_REQUEST', message } },
        ]);
      }
      const most = { VAR_LARGE: 'ü'.repeat(60_000), VAR_OTHER: 'x'.repeat(120_000) };
      expect((await shell.run('env', `echo \${#VAR_OTHER}`, { env: most })).stdout).toBe('120000\n');
    });

    verifies('shell.streaming', async () => {
      const accept = { headers: { accept: 'text/event-stream' } };
      const response = await shell.post(
        'stream',
        { command: "printf 'a\\360\\237'; sleep 0.3; printf '\\216\\211b'; echo e >&2" },
        accept,
      );
      const events = (await response.text())
        .trim()
        .split('\n\n')
        .map((event) => event.split('\n').map((line) => line.slice(line.indexOf(':') + 2)))
        .map(([name = '', data = '']) => [name, JSON.parse(data)] as const);
      const text = (stream: string) =>
        events.filter(([name]) => name === stream).map(([, data]) => data.text);
      expect(text('stdout')).toEqual(['a', '🎉b']);
      expect(text('stderr')).toEqual(['e\n']);
      expect(events.at(-1)).toMatchObject(['result', { stdout: 'a🎉b', stderr: 'e\n', exit_code: 0 }]);
    });

    verifies('shell.time-limit', async () => {
      const outcome = await shell.run(
        'late',
        `trap '' TERM; setsid sleep 86399 & (setsid sh -c 'setsid sleep 86398 &' &); echo begun; sleep 86397`,
        { timeout: 1.5 },
      );
      expect(outcome).toMatchObject({ stdout: 'begun\n', exit_code: 124, ended_by: 'timeout' });
      expect(outcome.error).toContain('1.5 s');
      await eventually('nothing of it is left', () =>
        ['86399', '86398', '86397'].every((seconds) => processesWith(seconds).length === 0),
      );
    });

    test('what a command leaves running ends with it', async () => {
      expect((await shell.run('daemon', '(setsid sleep 86396 &) ; echo done')).stdout).toBe('done\n');
      await eventually('it is gone', () => processesWith('86396').length === 0);
    });

    test('of a long output both ends are kept, in whole characters, and what is missing is told', async () => {
      const outcome = await shell.run('long', 'yes 🎉🎉🎉 | head -n 20000; echo end', { max_output: 3000 });
      expect(outcome).toMatchObject({ exit_code: 0, output_truncated: true });
      expect(outcome.stdout).not.toContain('\uFFFD');
      expect(outcome.stdout).toMatch(/^🎉🎉🎉\n.*\n\[… \d+ bytes left out here;.*end\n$/s);
      const [, missing = '0'] = /(\d+) bytes left out/.exec(outcome.stdout) ?? [];
      const kept = outcome.stdout.replace(/\n\[…[^\]]*\]\n/, '');
      expect(Number(missing) + Buffer.byteLength(kept)).toBe(20_000 * 13 + 4);
      expect(Buffer.byteLength(kept)).toBeLessThanOrEqual(3000);
    });

    verifies('shell.background', async () => {
      const me = api(place.running, 'back');
      const started = await me
        .post('/api/execute')
        .send({ command: 'echo up; sleep 86395', background: true });
      expect([started.status, started.body.status]).toEqual([202, 'running']);
      const path = `/api/execute/${started.body.id}`;
      await eventually('it has printed', async () => (await me.get(path)).body.stdout === 'up\n');
      expect((await me.get('/api/execute')).body.commands).toMatchObject([
        { command: 'echo up; sleep 86395' },
      ]);
      expect((await api(place.running, 'other').get(path)).status).toBe(404);
      expect((await me.delete(path)).body).toMatchObject({ status: 'ended', stdout: 'up\n', exit_code: 137 });
      expect(processesWith('86395')).toEqual([]);
    });

    verifies('shell.session-end', async () => {
      const owner = api(place.running);
      const { id, token } = (await owner.post('/api/sessions').send({})).body;
      const mine = { authorization: `Bearer ${token}` };
      const path = `${place.running.url}/api/execute`;
      const ask = (body: object) =>
        fetch(path, { method: 'POST', headers: mine, body: JSON.stringify(body) });
      await ask({ command: 'sleep 86394', background: true });
      // More than run at once: the others wait for their turn.
      const asked = Array.from({ length: 18 }, () => ask({ command: 'sleep 86393' }));
      await eventually(
        'they run',
        () => processesWith('86394').length > 0 && processesWith('86393').length >= 16,
      );
      await owner.delete(`/api/sessions/${id}`);
      const answers = await Promise.all(asked.map(async (answer) => (await answer).json()));
      expect(answers.filter((answer) => (answer as Outcome).ended_by === 'cancelled')).toHaveLength(16);
      expect(answers).toContainEqual(
        expect.objectContaining({ error: expect.objectContaining({ code: 'CALL_CANCELLED' }) }),
      );
      await eventually('none runs', () => ['86394', '86393'].every((one) => processesWith(one).length === 0));
    });

    test('a caller that goes away ends its command', async () => {
      const gone = new AbortController();
      const asked = shell.post('gone', { command: 'sleep 86392' }, { signal: gone.signal });
      await eventually('it runs', () => processesWith('86392').length > 0);
      gone.abort();
      await expect(asked).rejects.toThrow();
      await eventually('it is gone', () => processesWith('86392').length === 0);
    });

    verifies(
      'shell.at-once',
      async () => {
        const outcomes = await Promise.all(
          Array.from({ length: 100 }, (_, index) => {
            const session = `many-${index % 20}`;
            return shell
              .run(session, `echo ${session} $VAR_N; cat; pwd`, {
                stdin: `in ${index}\n`,
                env: { VAR_N: `${index}` },
              })
              .then(({ stdout }) => stdout);
          }),
        );
        expect(outcomes).toEqual(
          outcomes.map((_, index) => {
            const session = `many-${index % 20}`;
            return `${session} ${index}\nin ${index}\n${place.folder}/sessions/${session}\n`;
          }),
        );
      },
      60_000,
    );

    test('a policy decides what a command can read, write, and not even see', async () => {
      await mkdir(join(place.folder, 'shared/deep/hidden'), { recursive: true });
      await mkdir(join(place.folder, 'closed'), { recursive: true });
      await writeFile(join(place.folder, 'shared/deep/hidden/secret'), 'secret');
      await writeFile(join(place.folder, 'shared/open'), 'open');
      // Without namespaces nothing within a folder can be blocked: such commands are refused.
      const blocked = namespaces ? ['shared/deep/hidden'] : ['closed'];
      const folders = { read: ['shared'], write: ['out'], blocked };
      const { id } = (await api(place.running).post('/api/sessions').send({ folders })).body;
      const outcome = await shell.run(
        id,
        `pwd; cat shared/open; echo x > out/y; cat out/y; echo x > shared/z; ls closed; ls ${blocked}/secret`,
      );
      expect(outcome.stdout).toBe(`${place.folder}\nopenx\n`);
      expect(outcome.stderr.trim().split('\n')).toHaveLength(3);
      expect(existsSync(join(place.folder, 'shared/z'))).toBe(false);
    });
  });
}

/** What is promised of commands that call tools. */
export function describeShellTool(
  name: string,
  start: () => Promise<OrchestratedWorkspace>,
  { namespaces }: Means,
): void {
  describe(`the shell as a tool, ${name}`, () => {
    let place: OrchestratedWorkspace;
    let running: RunningOrchestrator;
    beforeAll(async () => {
      place = await start();
      running = place.running;
    });
    afterAll(() => place.stop());

    const call = async (token: string, path: string, args: object) => {
      const response = await fetch(`${running.url}/api/tools/${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}` },
        body: JSON.stringify(args),
      });
      return (await response.json()) as { success: boolean; result: string };
    };
    const open = async (policy: object) => (await api(running).post('/api/sessions').send(policy)).body;

    verifies('shell.api-spec', async () => {
      const { id, token } = await open({ network: 'orchestrator' });
      const spec = await call(token, 'virtual/get_api_spec', { tool_name: ['bare__echo', 'search_tools'] });
      const addresses = [...spec.result.matchAll(/^POST (.+)$/gm)].map(([, address]) => address);
      expect(addresses).toEqual(['$MCP_MCP/bare/echo', '$MCP_VIRTUAL/search_tools']);

      const curl = (json: object, address: string) =>
        `curl --fail-with-body -sS --json '${JSON.stringify(json)}' -H "$MCP_AUTH" ${address}`;
      const commands = [
        curl({ text: 'from within' }, addresses[0] ?? ''),
        curl({ query: 'echo', limit: 1 }, addresses[1] ?? ''),
        curl({ command: 'echo again in $MCP_SESSION_ID' }, '$MCP_CUSTOM/execute_shell_command'),
        curl({}, '$MCP_CUSTOM/nothing'),
      ];
      const { result } = await call(token, 'custom/execute_shell_command', {
        command: commands.join('; echo; '),
      });
      const { stdout, exit_code } = JSON.parse(result) as Outcome;
      const answers = stdout.split('\n').map((line) => JSON.parse(line));
      expect(answers[0]).toMatchObject({ success: true, result: 'from within' });
      expect(answers[1].result).toContain('bare__echo');
      expect(JSON.parse(answers[2].result).stdout).toBe(`again in ${id}\n`);
      expect(answers[3].error.code).toBe('UNKNOWN_TOOL');
      expect(exit_code).not.toBe(0);
    });

    verifies('shell.network', async () => {
      const { token } = await open({ network: 'orchestrator' });
      const reach = (address: string) => `curl -sS -m 5 ${address} >/dev/null 2>&1; echo $?`;
      const { result } = await call(token, 'custom/execute_shell_command', {
        command: [
          reach('$MCP_API_URL/tools'),
          reach(running.url),
          reach('http://169.254.169.254/'),
          reach('http://192.0.2.1/'),
          'curl -sS -H "$MCP_AUTH" $MCP_API_URL/sessions',
        ].join('; '),
      });
      const [own, ...others] = (JSON.parse(result) as Outcome).stdout.split('\n');
      expect(own).toBe('0');
      expect(others.slice(0, 3)).toEqual(['7', '7', '7']);
      // With the token of a session, nothing that is the owner's.
      expect(JSON.parse(others[3] ?? '')).toMatchObject({ error: { code: 'FORBIDDEN' } });

      const none = await open({});
      const silent = await call(none.token, 'custom/execute_shell_command', {
        command: `env | grep -E 'MCP_(API|MCP|AUTH)'; ${reach(running.url)}`,
      });
      expect((JSON.parse(silent.result) as Outcome).stdout).toBe('7\n');
    });

    test('programs of every kind find the orchestrator, many at once', async () => {
      const { id } = await open({ network: 'orchestrator' });
      const ask = 'GET /ready HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n';
      const node = `
      const ready = new URL('/ready', process.env.MCP_API_URL);
      const all = Array.from({ length: 40 }, async () => (await fetch(ready)).status);
      Promise.all(all).then((answers) => console.log(answers.filter((one) => one === 200).length));`;
      const { stdout, stderr } = await commandsOf(running).run(
        id,
        `rest=\${MCP_API_URL##*:}; port=\${rest%%/*}
       bash -c "exec 9<>/dev/tcp/127.0.0.1/$port; printf '${ask}' >&9; head -n 1 <&9" | tr -d '\r'
       node -e "$PROGRAM"`.replace('$PROGRAM', node.replaceAll('\n', ' ')),
      );
      expect([stdout, stderr]).toEqual(['HTTP/1.1 200 OK\n40\n', '']);
    });

    if (namespaces)
      test('a command finds the server that another of its session started, and no other session does', async () => {
        const { id } = await open({ network: 'orchestrator' });
        const other = await open({ network: 'orchestrator' });
        const shell = commandsOf(running);
        const serve = `node -e "require('http').createServer((q, r) => r.end('mine')).listen(3111, '127.0.0.1')"`;
        await shell.run(id, serve, { background: true });
        const ask = 'curl -sS -m 5 http://127.0.0.1:3111/';
        await eventually('it answers', async () => (await shell.run(id, ask)).stdout === 'mine');
        expect((await shell.run(other.id, ask)).exit_code).toBe(7);
      });
  });
}
