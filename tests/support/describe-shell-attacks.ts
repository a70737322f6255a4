import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { verifies } from '../requirements.js';
import { api } from './api.js';
import { commandsOf, processesWith } from './commands.js';
import type { RunningOrchestrator } from './orchestrator.js';
import { ended, eventually, fixture, startNode } from './processes.js';
import type { OrchestratedWorkspace } from './workspaces.js';

const LIMITS = {
  SHELL_MEMORY: '256m',
  SHELL_PROCESSES: '64',
  SHELL_FILE_SIZE: '8m',
  SHELL_TIMEOUT: '20s',
};

/** What no command may do, confined by `sandbox`, in a workspace that is started with these variables. */
export function describeShellAttacks(
  name: string,
  sandbox: string,
  start: (env: Record<string, string>) => Promise<OrchestratedWorkspace>,
): void {
  describe(`commands confined by ${sandbox}, ${name}`, () => {
    let place: OrchestratedWorkspace;
    let running: RunningOrchestrator;
    let shell: ReturnType<typeof commandsOf>;
    let workspace: string;
    /** The workspace's process, as a command would see it. */
    let service: number | undefined;
    beforeAll(async () => {
      place = await start({ SHELL_SANDBOX: sandbox, SECRET_PARENT: 'of-the-parent', ...LIMITS });
      ({ running, folder: workspace, pidInside: service = place.pid } = place);
      shell = commandsOf(running);
      const health = (await api(running).get('/health')).body.shell;
      expect(health).toMatchObject({ available: true, sandbox });
    });
    afterAll(() => place.stop());

    /** The service is unharmed: the next command of another session works. */
    const stillWorks = async () => expect((await shell.run('next', 'echo fine')).stdout).toBe('fine\n');

    verifies('shell.files-hidden', async () => {
      await shell.run('victim', 'echo private > mine.txt');
      const victim = `${workspace}/sessions/victim`;
      const forbidden = [
        `${running.home}/token`,
        `${running.home}/store.db`,
        running.configFile,
        `${victim}/mine.txt`,
        `/proc/${service}/environ`,
        `/proc/${service}/root/etc/shadow`,
        // Of the container; in a namespace of its own it is the command's.
        ...(place.pidInside === undefined ? [] : ['/proc/1/environ']),
        '/etc/shadow',
        '/root/.bash_history',
      ];
      const read = forbidden.map((file) => `cat ${file} && echo READ ${file}`).join('; ');
      expect((await shell.run('thief', read)).stdout).not.toContain('READ');
      const ways = [
        `ln -s / all; cat all${running.home}/token`,
        `ln -s ${victim} theirs; cat theirs/mine.txt`,
        `ln ${victim}/mine.txt hard; cat hard`,
        'cat ../victim/mine.txt',
        `cat ${workspace}/sessions/thief/../victim/mine.txt`,
        `ls ${workspace}/.mcpbridge-workspace/*`,
        `echo broken > ${victim}/mine.txt`,
        `mv . ${victim}/moved; rm -rf ${victim}`,
        `for one in /proc/[0-9]*; do grep -a SECRET_PARENT $one/environ; done`,
        'find / -path /usr -prune -o -path /proc -prune -o -name token -type f -print 2>/dev/null',
      ];
      for (const way of ways) {
        const { stdout } = await shell.run('thief', way);
        expect(`${way}: ${stdout}`).toBe(`${way}: `);
      }
      expect((await shell.run('victim', 'cat mine.txt')).stdout).toBe('private\n');
    });

    verifies('shell.parent-unharmed', async () => {
      const before = readFileSync('/proc/sys/kernel/panic', 'utf8');
      const attempts = [
        `kill -9 ${service}`,
        `kill -STOP ${service}`,
        `kill -9 -${service}`,
        `renice 19 -p ${service}`,
        `prlimit --pid ${service} --nofile=1`,
        'echo 9 > /proc/sys/kernel/panic',
        'echo b > /proc/sysrq-trigger',
        'mount -t tmpfs none /tmp',
        'unshare -r true',
        'unshare -n true',
        'chroot / true',
        'mknod disk b 254 0',
        'echo x > /usr/bin/planted',
        'echo x > /etc/planted',
        'touch /planted',
      ];
      const told = await shell.run('harm', attempts.map((one) => `${one} && echo DONE: '${one}'`).join('; '));
      expect(told.stdout).not.toContain('DONE');
      expect(readFileSync('/proc/sys/kernel/panic', 'utf8')).toBe(before);
      expect(existsSync('/usr/bin/planted')).toBe(false);
      await stillWorks();
    });

    verifies('shell.no-network', async () => {
      const abstract = `\0mcpbridge-test-${process.pid}`;
      const listener = createServer((socket) => socket.end('reached')).listen(abstract);
      const connect = (where: object) =>
        `node -e 'require("net").connect(${JSON.stringify(where)}).on("error", () => {}).on("connect", () => { console.log("REACHED"); process.exit() })'`;
      try {
        const { stdout } = await shell.run(
          'net',
          [
            `curl -sS -m 3 ${running.url}/health`,
            'curl -sS -m 3 http://169.254.169.254/latest/meta-data/',
            'curl -sS -m 3 http://192.0.2.1/',
            'curl -sS -m 3 "http://[fd00:ec2::254]/"',
            `curl -sS -m 3 --unix-socket ${running.home}/${running.port}.sock http://localhost/health`,
            connect({ port: running.port, host: '127.0.0.1' }),
            connect({ path: `${running.home}/${running.port}.sock` }),
            connect({ path: abstract }),
            `node -e 'const s = require("dgram").createSocket("udp4"); s.on("error", () => {}); s.send("x", 53, "192.0.2.1", (e) => { if (!e) console.log("REACHED"); s.close() })'`,
          ].join('; '),
        );
        expect(stdout).toBe('');
      } finally {
        listener.close();
      }
    });

    verifies('shell.bounded', async () => {
      const bomb = shell.run('bomb', `bash -c 'b() { b | b & }; sleep 86391 & b; wait'`, { timeout: 3 });
      await eventually('it is running', () => processesWith('86391').length > 0);
      expect((await fetch(`${running.url}/ready`)).ok).toBe(true);
      expect(await bomb).toMatchObject({ exit_code: 124, ended_by: 'timeout' });
      await eventually('nothing of it is left', () => processesWith('86391').length === 0);
      await stillWorks();
    });

    test('output without end is cut, and its command ended', async () => {
      const outcome = await shell.run('flood', 'yes `printf %0500d 7`');
      expect(outcome).toMatchObject({ exit_code: 137, ended_by: 'output', output_truncated: true });
      expect(outcome.stdout.length).toBeLessThan(300_000);
      expect(residentMib(place)).toBeLessThan(600);
      await stillWorks();
    });

    test('memory is bounded, of one process and of many', async () => {
      const eat = 'node -e "const all = []; for (;;) all.push(Buffer.alloc(8e6, 1))"';
      expect((await shell.run('eater', `${eat} 2>/dev/null || echo ended`)).stdout).toBe('ended\n');
      const many = await shell.run(
        'eater',
        `for one in 1 2 3 4; do (head -c 120m /dev/zero | tail -c 119m | wc -c) & done; wait; cat /dev/zero | head -c 1g > /dev/shm/full`,
      );
      expect(many.exit_code).not.toBe(0);
      await stillWorks();
    });

    test('100,000 files harm nobody, and one file grows to its limit alone', async () => {
      // As many as it makes in the time it has.
      await shell.run('files', 'seq 100000 | xargs touch; ls -f | wc -l', { timeout: 4 });
      await stillWorks();
      const large = await shell.run('large', 'head -c 20m /dev/zero > large; stat -c %s large');
      expect(large.stdout).toBe(`${8 * 1024 * 1024}\n`);
    });

    test('a daemon that hides ends with its command', async () => {
      const hide = `env -i setsid sh -c 'trap "" TERM HUP; setsid sleep 86390 & sleep 86389' >/dev/null 2>&1 &`;
      expect((await shell.run('hider', `(${hide}); sleep 0.3; echo left`)).stdout).toBe('left\n');
      await eventually('they are gone', () =>
        ['86390', '86389'].every((seconds) => processesWith(seconds).length === 0),
      );
      await stillWorks();
    });

    test('one command finds in the temporary folder what another of its session left, and no other session does', async () => {
      await shell.run('temporary', 'echo kept > $TMPDIR/note');
      expect((await shell.run('temporary', 'cat $TMPDIR/note')).stdout).toBe('kept\n');
      expect((await shell.run('stranger', 'cat $TMPDIR/note')).exit_code).toBe(1);
    });

    verifies('shell.exchanged-folders', async () => {
      const me = api(running);
      for (const [id, folder] of [
        ['outer', 'shared'],
        ['inner', 'shared/inner'],
      ] as const)
        await me.post('/api/sessions').send({ id, folders: { write: [folder] } });
      const others = join(workspace, 'others');
      await mkdir(others);
      await writeFile(join(others, 'file.txt'), 'SECRET\n');
      await shell.run('outer', 'mkdir -p shared/inner; echo own > shared/inner/file.txt');
      // What a command of the outer session may do, as fast as it can be done.
      const swapper = startNode(fixture('link-swapper.mjs'), [join(workspace, 'shared/inner'), others]);
      const command = 'cat shared/inner/file.txt; echo x > shared/inner/planted';
      const outcomes: string[] = [];
      try {
        for (let round = 0; round < 6; round += 1) {
          const at = Array.from({ length: 10 }, () => shell.post('inner', { command }));
          for (const answer of await Promise.all(at)) {
            const { stdout = 'refused' } = (await answer.json()) as { stdout?: string };
            outcomes.push(stdout);
          }
        }
      } finally {
        swapper.kill('SIGKILL');
        await ended(swapper);
      }
      expect(outcomes.filter((stdout) => stdout.includes('SECRET'))).toEqual([]);
      expect(await readdir(others)).toEqual(['file.txt']);
      await rm(join(workspace, 'shared'), { recursive: true });
      await shell.run('outer', 'mkdir -p shared/inner; echo own > shared/inner/file.txt');
      expect((await shell.run('inner', command)).stdout).toBe('own\n');
      await stillWorks();
    });

    test('the end of the workspace, however it comes, is the end of its commands', async () => {
      const own = await start({ SHELL_SANDBOX: sandbox });
      await commandsOf(own.running).run('left', 'echo; sleep 86388', { background: true });
      await eventually('it runs', () => processesWith('86388').length > 0);
      await own.kill();
      await eventually('it is gone', () => processesWith('86388').length === 0);
      await own.stop();
    });
  });
}

function residentMib({ pid }: OrchestratedWorkspace): number {
  const [, kib = '0'] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kib) / 1024;
}
