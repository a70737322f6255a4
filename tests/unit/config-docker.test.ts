// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders of the configuration are meant
import { describe, expect, test } from '@jest/globals';
import { maskEntry } from '@mcpbridge/orchestrator/config/mask.js';
import { readEntry } from '@mcpbridge/orchestrator/config/read-entry.js';

const context = {
  env: { HOME: '/home/me', TOKEN: 's3cret', TAG: '2.1', CPUS: '0.5' },
  workspaceFolder: '/srv/work',
  folder: '/etc/servers',
};

function read(docker: unknown, beside: object = {}) {
  return readEntry('box', { origin: 'base', raw: { docker, ...beside } }, context);
}

function usable(docker: unknown, beside: object = {}) {
  const server = read(docker, beside);
  if (server.state !== 'usable') throw new Error(JSON.stringify(server));
  return server.entry.transport;
}

function faults(docker: unknown, beside: object = {}) {
  const server = read(docker, beside);
  return server.state === 'faulty' ? server.faults : [];
}

test('an image alone is enough', () => {
  const plain = { kind: 'docker', image: 'mcp/time', command: [], mounts: [], env: {} };
  expect(usable({ image: 'mcp/time' })).toEqual(plain);
  expect(usable({ image: 'mcp/time' }, { type: 'stdio' })).toEqual(plain);
});

test('every field is read, with placeholders in all of them', () => {
  const docker = {
    image: 'mcp/files:${TAG}',
    command: ['node', '/app/main.js', '--port', 80, '--token=${TOKEN}'],
    mounts: ['${WORKSPACE_DIR}:/work', './data:/data:ro', '~/notes:/notes', 'cache:/var/cache'],
    memory: '512m',
    cpus: '${CPUS}',
    network: 'none',
    env: { TOKEN: '${TOKEN}', PORT: 80, NOT: null },
  };
  expect(usable(docker)).toEqual({
    kind: 'docker',
    image: 'mcp/files:2.1',
    command: ['node', '/app/main.js', '--port', '80', '--token=s3cret'],
    mounts: [
      { kind: 'bind', source: '/srv/work', target: '/work', readOnly: false },
      { kind: 'bind', source: '/etc/servers/data', target: '/data', readOnly: true },
      { kind: 'bind', source: '/home/me/notes', target: '/notes', readOnly: false },
      { kind: 'volume', source: 'cache', target: '/var/cache', readOnly: false },
    ],
    memoryBytes: 512 * 1024 * 1024,
    cpus: 0.5,
    network: 'none',
    env: { TOKEN: 's3cret', PORT: '80' },
  });
});

test.each([
  ['512m', 512 * 1024 ** 2],
  ['1.5g', 1.5 * 1024 ** 3],
  ['2GB', 2 * 1024 ** 3],
  ['64k', 64 * 1024],
  [67_108_864, 67_108_864],
])('memory %s is %d bytes', (memory, bytes) => {
  expect(usable({ image: 'x', memory })).toMatchObject({ memoryBytes: bytes });
});

describe('faults, each a line of its own', () => {
  test.each([
    [{}, '"docker.image" has to name the image to run.'],
    [{ image: ' ' }, '"docker.image" has to name the image to run.'],
    [{ image: 'x', imge: 'y' }, '"docker.imge" is not known; did you mean "image"?'],
    [
      { image: 'x', privileged: true },
      '"docker.privileged" is not known; there are image, command, mounts, memory, cpus, network, env.',
    ],
    [{ image: 'x', command: 'node main.js' }, '"docker.command" must be array, got string.'],
    [
      { image: 'x', mounts: ['/data'] },
      '"docker.mounts.0" is "/data"; write "folder:/folder/inside", with ":ro" after it for reading only.',
    ],
    [
      { image: 'x', mounts: ['a:/a', './b:/b:rx'] },
      '"docker.mounts.1" is "./b:/b:rx"; write "folder:/folder/inside", with ":ro" after it for reading only.',
    ],
    [{ image: 'x', mounts: { a: '/a' } }, '"docker.mounts" must be array, got object.'],
    [
      { image: 'x', memory: 'much' },
      '"docker.memory" is "much"; write a size such as "512m" or "2g", or bytes.',
    ],
    [{ image: 'x', cpus: 0 }, '"docker.cpus" is "0"; write a number of processors such as 0.5 or 2.'],
    [
      { image: 'x', env: { A: '${GONE}' } },
      '"docker.env.A" of "box" needs the environment variable "GONE", which is not set.',
    ],
    ['mcp/time', '"docker" must be object, got string.'],
  ])('%j', (docker, fault) => {
    expect(faults(docker)).toEqual([fault]);
  });

  test.each([
    [{ command: 'x' }, 'It has a "command" and a "docker"; keep one of them.'],
    [{ url: 'https://a.example' }, 'It has a "url" and a "docker"; keep one of them.'],
    [{ args: ['x'] }, '"args" does not go with "docker"; write them into "docker.command".'],
    [{ env: { A: '1' } }, '"env" does not go with "docker"; move it into "docker".'],
    [{ cwd: '/x' }, '"cwd" does not go with "docker"; a container begins in the folder of its image.'],
    [{ type: 'http' }, 'It is of type "http", which needs a "url" and not a "docker".'],
  ])('%j beside it', (beside, fault) => {
    expect(faults({ image: 'x' }, beside)).toEqual([fault]);
  });
});

test('secrets in the environment and in the command of a container are masked', () => {
  const docker = {
    image: 'x',
    command: ['--token', 'abc', '--name=me', 'API_KEY=def'],
    env: { A: 'ghi', B: '${TOKEN}' },
  };
  expect(maskEntry({ docker })).toEqual({
    docker: {
      image: 'x',
      command: ['--token', '********', '--name=me', 'API_KEY=********'],
      env: { A: '********', B: '${TOKEN}' },
    },
  });
});
