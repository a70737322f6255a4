import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { DockerTransportEntry } from '@mcpbridge/orchestrator/config/server-entry.js';
import { verifies } from '../requirements.js';
import { callTool, TestCaller, textOf, Upstreams } from '../support/upstreams.js';
import { IMAGE, TestEngine } from './support/engine.js';

let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'mcpbridge-test-'));
});
afterAll(() => rm(home, { recursive: true }));

const upstreams = new Upstreams();
const caller = new TestCaller('session');
afterEach(() => upstreams.close());

function provider(host: string, docker: Partial<DockerTransportEntry> = {}) {
  const transport = { kind: 'docker' as const, image: IMAGE, command: [], mounts: [], env: {}, ...docker };
  return upstreams.provider(
    { id: 'box', transport, isolation: 'session' },
    { env: { DOCKER_HOST: host }, home },
  );
}

/** Ends itself by filling its memory at the first call. */
const HUNGRY = `
  const kept = [];
  import('/app/bare-server.mjs').then(() => process.stdin.on('data', (chunk) => {
    while (String(chunk).includes('tools/call')) kept.push(Buffer.alloc(8 << 20, 1));
  }));
`;

/** Podman cannot tell where control groups of both versions are mounted. */
const TOLD_OF_MEMORY = {
  docker: /^"echo" was cut off: Server "box" was ended out of memory: "docker.memory" allows 96 MiB\.$/,
  podman: /^"echo" was cut off: Server "box" was ended .*out of memory: "docker.memory" allows 96 MiB\.$/,
};

for (const kind of ['docker', 'podman'] as const) {
  describe(kind, () => {
    let engine: TestEngine;
    beforeAll(async () => {
      engine = await TestEngine.start(kind);
    });
    afterAll(() => engine.stop());
    // What was started has been closed.
    afterEach(async () => {
      await upstreams.close();
      expect(await engine.containers()).toEqual([]);
    });

    verifies('docker.image-missing', async () => {
      await expect(provider(engine.host, { image: 'nobody/knows:3' }).refresh()).rejects.toMatchObject({
        code: 'PROVIDER_UNAVAILABLE',
        message:
          'Server "box": the image "nobody/knows:3" is not on this machine; get it with "docker pull nobody/knows:3" (or podman\'s), it is not fetched by itself.',
      });
    });

    verifies('docker.out-of-memory', async () => {
      const hungry = provider(engine.host, { command: ['-e', HUNGRY], memoryBytes: 96 * 1024 * 1024 });
      await hungry.refresh();
      await expect(callTool(hungry, caller, 'echo')).rejects.toMatchObject({
        code: 'CONNECTION_LOST',
        message: expect.stringMatching(TOLD_OF_MEMORY[kind]),
        details: { exitCode: 137 },
      });
    });

    test('a program that is not in the image is named', async () => {
      const entry = { image: `${IMAGE}-bare`, command: ['no-such-program'] };
      await engine.importBare(`${IMAGE}-bare`);
      await expect(provider(engine.host, entry).refresh()).rejects.toThrow(
        `Server "box": the command "no-such-program" was not found in the image "${IMAGE}-bare".`,
      );
    });

    test('what else the engine has against a container is told in its own words', async () => {
      await expect(provider(engine.host, { network: 'nowhere' }).refresh()).rejects.toThrow(
        /^Server "box": the container engine refused a container of "mcpbridge-fixtures": .*nowhere/,
      );
    });

    test('a server that ends while it starts is reported with its exit code and its last words', async () => {
      await expect(provider(engine.host, { env: { FAIL_START: '1' } }).refresh()).rejects.toMatchObject({
        code: 'PROVIDER_UNAVAILABLE',
        message: 'Server "box" ended with exit code 3. Its last words: the key is missing',
      });
    });

    test('a start that is given up leaves no container, wherever it was', async () => {
      for (const startTimeoutMs of [1, 100, 200, 300]) {
        const transport = { kind: 'docker' as const, image: IMAGE, command: [], mounts: [] };
        const silent = { ...transport, env: { NEVER_INITIALIZE: '1', IGNORE_SIGTERM: '1' } };
        const box = upstreams.provider(
          { id: 'box', transport: silent, isolation: 'session', startTimeoutMs },
          { env: { DOCKER_HOST: engine.host }, home },
        );
        await expect(box.refresh()).rejects.toThrow(
          `Server "box" was not ready within ${startTimeoutMs / 1000} s.`,
        );
      }
    });

    test('a container that is killed in mid-call fails that call, and the next has another', async () => {
      const box = provider(engine.host);
      const call = callTool(box, caller, 'hang');
      const failure = expect(call).rejects.toMatchObject({
        code: 'CONNECTION_LOST',
        message: expect.stringContaining('was ended by SIGKILL'),
      });
      await textOf(box, caller, 'echo');
      for (const { Id } of await engine.containers()) await engine.kill(Id);
      await failure;
      expect(await textOf(box, caller, 'echo', { text: 'again' })).toBe('again');
    });

    test('a message over the limit fails its call alone, noise harms none', async () => {
      const transport = { kind: 'docker' as const, image: IMAGE, command: [], mounts: [], env: {} };
      const box = upstreams.provider(
        { id: 'box', transport, isolation: 'session' },
        { env: { DOCKER_HOST: engine.host }, home, maxMessageBytes: 1 << 20 },
      );
      expect(await textOf(box, caller, 'counter')).toBe('1');
      await expect(callTool(box, caller, 'big', { args: { bytes: 2 << 20 } })).rejects.toMatchObject({
        code: 'RESULT_TOO_LARGE',
      });
      expect(await textOf(box, caller, 'noise')).toBe('after the noise');
      expect(await textOf(box, caller, 'emoji')).toBe('a 🦊 b');
      expect(await textOf(box, caller, 'counter')).toBe('2');
    });
  });
}

describe('no engine', () => {
  verifies('docker.engine-missing', async () => {
    await expect(provider('unix:///nowhere/engine.sock').refresh()).rejects.toMatchObject({
      code: 'PROVIDER_UNAVAILABLE',
      message:
        'Server "box": there is no container engine at unix:///nowhere/engine.sock; start Docker or Podman.',
    });
  });

  test('one that does not answer is told from one that is not there', async () => {
    await expect(provider('tcp://127.0.0.1:9').refresh()).rejects.toThrow(
      'Server "box": the container engine at tcp://127.0.0.1:9 does not answer; start Docker or Podman.',
    );
  });

  test('an address that cannot be used is named with what can', async () => {
    await expect(provider('ssh://me@there').refresh()).rejects.toThrow(
      'Server "box" cannot use the container engine of DOCKER_HOST, "ssh://me@there": set it to unix:///path or tcp://host:port, or start the server by the command "docker run -i --rm …".',
    );
  });
});
