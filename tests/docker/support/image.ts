import { execFileSync } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { root } from '../../support/processes.js';

const CHANGES = ['ENTRYPOINT ["/usr/bin/node"]', 'CMD ["/app/features-server.mjs"]'];

/** Makes an image with nothing in it that could be run. */
export function importBare(socketPath: string, name: string): Promise<void> {
  return importFolder(socketPath, name, [], (folder) => mkdir(join(folder, 'tmp')).then(() => {}));
}

/** Makes an image without a registry: this machine's node with its libraries, and the fixtures in /app. */
export function importImage(socketPath: string, name: string): Promise<void> {
  return importFolder(socketPath, name, CHANGES, async (folder) => {
    await copyInto(folder, process.execPath, '/usr/bin/node');
    for (const library of librariesOf(process.execPath)) await copyInto(folder, library, library);
    await cp(join(root, 'tests/fixtures'), join(folder, 'app'), { recursive: true });
    await mkdir(join(folder, 'tmp'));
  });
}

export const MACHINE_IMAGE = 'mcpbridge-machine';
export const NODE_INSIDE = '/opt/node/node';

/** Makes an image whose programs are this machine's: `machineMounts` brings them. */
export function importMachine(socketPath: string): Promise<void> {
  return importFolder(socketPath, MACHINE_IMAGE, [], async (folder) => {
    for (const name of ['bin', 'lib', 'lib64']) await symlink(`usr/${name}`, join(folder, name));
    for (const name of ['sbin', 'usr', 'opt', 'etc', 'tmp', 'app']) await mkdir(join(folder, name));
    await writeFile(
      join(folder, 'etc/passwd'),
      'root:x:0:0::/root:/bin/sh\nnode:x:1000:1000::/tmp:/bin/sh\n',
    );
    await writeFile(join(folder, 'etc/group'), 'root:x:0:\nnode:x:1000:\n');
    await writeFile(join(folder, 'etc/shadow'), 'root:*:1:0:99999:7:::\n', { mode: 0o600 });
  });
}

export function machineMounts(): string[] {
  const alternatives = '/etc/alternatives:/etc/alternatives:ro';
  return ['/usr:/usr:ro', `${process.execPath}:${NODE_INSIDE}:ro`, alternatives];
}

export async function importFolder(
  socketPath: string,
  name: string,
  changes: string[],
  fill: (folder: string) => Promise<void>,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'mcpbridge-image-'));
  const tar = `${folder}.tar`;
  try {
    await fill(folder);
    execFileSync('tar', ['-C', folder, '-cf', tar, '.']);
    await send(socketPath, tar, name, changes);
  } finally {
    await rm(folder, { recursive: true, force: true });
    await rm(tar, { force: true });
  }
}

function librariesOf(program: string): string[] {
  const lines = execFileSync('ldd', [program], { encoding: 'utf8' });
  return [...new Set(lines.match(/\/\S+\.so\S*/g))];
}

async function copyInto(folder: string, from: string, to: string): Promise<void> {
  await mkdir(join(folder, dirname(to)), { recursive: true });
  await cp(from, join(folder, to), { dereference: true });
}

async function send(socketPath: string, tar: string, name: string, changes: string[]): Promise<void> {
  const query = new URLSearchParams({ fromSrc: '-', repo: name });
  for (const change of changes) query.append('changes', change);
  const sent = request({
    socketPath,
    method: 'POST',
    path: `/images/create?${query}`,
    headers: { 'content-type': 'application/x-tar' },
  });
  const answered = new Promise<string>((resolve, reject) => {
    sent.on('error', reject).on('response', async (response) => {
      const text = (await response.toArray()).join('');
      if (response.statusCode === 200 && text.includes('sha256:')) resolve(text);
      else reject(new Error(`The image was not taken: ${text}`));
    });
  });
  await Promise.all([pipeline(createReadStream(tar), sent), answered]);
}
