import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { verifies } from '../requirements.js';
import { api } from '../support/api.js';
import { type RunningOrchestrator, startOrchestrator } from '../support/orchestrator.js';
import { ended, eventually } from '../support/processes.js';
import { startBridge, textOf } from '../support/road.js';
import { IMAGE, type ListedContainer, TestEngine } from './support/engine.js';

/** What is left of them has 5 s to go. */
const GONE_WITHIN_MS = 5000;

for (const kind of ['docker', 'podman'] as const) {
  describe(`servers in containers of ${kind}`, () => {
    let engine: TestEngine;
    beforeAll(async () => {
      engine = await TestEngine.start(kind);
    });
    afterAll(() => engine.stop());

    const start = (docker: object = {}, env: Record<string, string> = {}, again?: RunningOrchestrator) =>
      startOrchestrator({
        servers: { box: { docker: { image: IMAGE, ...docker } } },
        env: { DOCKER_HOST: engine.host, ...env },
        ...(again ? { again } : {}),
      });
    const call = async (running: RunningOrchestrator, session: string, tool: string, args: object = {}) =>
      (await api(running, session).post(`/tools/mcp/box/${tool}`).send(args)).body;
    const server = async (running: RunningOrchestrator) => (await api(running).get('/api/servers/box')).body;
    const noContainers = async () => (await engine.containers()).length === 0;

    verifies('docker.call', async () => {
      const running = await start({ env: { COLOUR: 'green' } });
      const bridge = startBridge(running);
      await bridge.initialize();
      const { result } = await bridge.request('tools/list');
      expect(result.tools.map((tool: { name: string }) => tool.name)).toContain('box__echo');
      const large = 'ü🦊'.repeat(100_000);
      expect(textOf(await bridge.callTool('box__echo', { text: large }))).toBe(large);
      expect(JSON.parse(textOf(await bridge.callTool('box__env')) ?? '')).toMatchObject({ COLOUR: 'green' });
      bridge.close();
      await running.stop();
      expect(await engine.containers()).toEqual([]);
    });

    test('it is shown like any other server, with its stderr', async () => {
      const running = await start();
      await call(running, 'a', 'echo');
      const shown = await server(running);
      expect(shown).toMatchObject({ id: 'box', state: 'ready', transport: 'docker', isolation: 'session' });
      expect(shown.stderr).toEqual(['features server is up', 'features server is up']);
      await running.stop();
    });

    test('it has its mounts, limits and network', async () => {
      const running = await start({
        mounts: ['.:/home-of-the-file', './mcp_servers.json:/given.json:ro', 'kept:/kept'],
        env: { TRACE_FILE: '/home-of-the-file/trace' },
        ...{ memory: '256m', cpus: 0.5, network: 'none' },
      });
      expect((await call(running, 'a', 'echo', { text: 'limited' })).result).toBe('limited');
      expect(readFileSync(join(running.home, 'trace'), 'utf8')).toContain('pid 1\n');
      const [one] = await engine.containers();
      const { HostConfig, Mounts } = await engine.inspect(one?.Id ?? '');
      expect(HostConfig).toMatchObject({ Memory: 256 << 20, NanoCpus: 5e8, NetworkMode: 'none' });
      expect(Object.fromEntries(Mounts.map(({ Destination, RW }) => [Destination, RW]))).toEqual({
        '/home-of-the-file': true,
        '/given.json': false,
        '/kept': true,
      });
      await running.stop();
    });

    verifies('docker.sessions', async () => {
      const running = await start();
      const counts = [await call(running, 'a', 'counter'), await call(running, 'b', 'counter')];
      expect(counts.map(({ result }) => result)).toEqual(['1', '1']);
      const before = await engine.containers();
      // One for the lists, one for each session.
      expect(before).toHaveLength(3);
      await api(running).delete('/api/sessions/a');
      await eventually('the container of the session is removed', async () => {
        return (await engine.containers()).length === 2;
      });
      expect((await call(running, 'b', 'counter')).result).toBe('2');
      await running.stop();
      expect(await engine.containers()).toEqual([]);
    });

    test('a container that nobody uses is removed, and the next call has another', async () => {
      const running = await start({}, { UPSTREAM_IDLE_TIMEOUT: '200ms' });
      expect((await call(running, 'a', 'counter')).result).toBe('1');
      await eventually(
        'only the one for lists is left',
        async () => (await engine.containers()).length === 1,
      );
      expect((await call(running, 'a', 'counter')).result).toBe('1');
      await running.stop();
    });

    test('a server that heeds neither the end of its stdin nor SIGTERM is removed with its session', async () => {
      const running = await start({ env: { IGNORE_SIGTERM: '1' } });
      await call(running, 'a', 'echo');
      await api(running).delete('/api/sessions/a');
      await eventually(
        'its container is removed',
        async () => (await engine.containers()).length === 1,
        GONE_WITHIN_MS,
      );
      await running.stop();
      expect(await engine.containers()).toEqual([]);
    });

    for (const [what, env] of Object.entries({
      'that end with their stdin': {},
      'that heed nothing': { IGNORE_SIGTERM: '1' },
    })) {
      const killed = async () => {
        const running = await start({ env });
        await call(running, 'a', 'echo');
        void call(running, 'b', 'hang').catch(() => {
          // Its orchestrator is killed meanwhile.
        });
        await eventually('three containers run', async () => (await engine.containers()).length === 3);
        running.process.kill('SIGKILL');
        await ended(running.process);
        await eventually('no container is left', noContainers, GONE_WITHIN_MS);
      };
      if (env.IGNORE_SIGTERM) verifies('docker.killed', killed);
      else test(`an orchestrator that is killed leaves no containers of servers ${what}`, killed);
    }

    verifies('docker.leftovers', async () => {
      const first = await start({ env: { IGNORE_SIGTERM: '1' } });
      await call(first, 'a', 'echo');
      const left = await engine.containers();
      process.kill(guardOf(first), 'SIGKILL');
      first.process.kill('SIGKILL');
      await ended(first.process);
      const second = await start({}, {}, first);
      const isThere = (now: ListedContainer[]) => left.some(({ Id }) => now.some((one) => one.Id === Id));
      await eventually('the old ones are removed', async () => !isThere(await engine.containers()));
      expect((await call(second, 'a', 'echo', { text: 'anew' })).result).toBe('anew');
      await second.stop();
    });

    test('another orchestrator of the same home keeps its containers', async () => {
      const one = await start();
      expect((await call(one, 'a', 'counter')).result).toBe('1');
      const other = await startOrchestrator({
        again: { ...one, port: 0 },
        env: { DOCKER_HOST: engine.host },
      });
      expect((await call(other, 'a', 'counter')).result).toBe('1');
      expect((await call(one, 'a', 'counter')).result).toBe('2');
      await other.stop(true);
      expect((await call(one, 'a', 'counter')).result).toBe('3');
      await one.stop();
    });

    test('an orchestrator that is told twice to end leaves no containers', async () => {
      const running = await start({ env: { IGNORE_SIGTERM: '1' } });
      void call(running, 'a', 'hang').catch(() => {
        // Its orchestrator ends meanwhile.
      });
      await eventually('two containers run', async () => (await engine.containers()).length === 2);
      running.process.kill('SIGTERM');
      await eventually('it takes no more', async () => !(await reaches(running)));
      running.process.kill('SIGTERM');
      await ended(running.process);
      await eventually('no container is left', noContainers, GONE_WITHIN_MS);
    });
  });
}

/** The process that removes its containers after its death. */
function guardOf({ process: { pid } }: RunningOrchestrator): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
  const guard = children.find((child) =>
    readFileSync(`/proc/${child}/cmdline`, 'utf8').includes('container-guard'),
  );
  return Number(guard);
}

const reaches = ({ url }: RunningOrchestrator): Promise<boolean> =>
  fetch(`${url}/health`).then(
    () => true,
    () => false,
  );
