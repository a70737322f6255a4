import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '../clients/support/run.js';
import { importFolder } from '../docker/support/image.js';
import { root } from '../support/processes.js';

/** Registries are reached as this machine reaches them. */
const MACHINE = { env: process.env };
const PACKAGES = ['debootstrap', 'docker-compose'];
const PROGRAMS = ['/usr/sbin/debootstrap', '/usr/bin/docker-compose'];

/** Debian's, installed when they are missing. */
export async function installPrograms(): Promise<void> {
  if (PROGRAMS.every((program) => existsSync(program))) return;
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  await run('apt-get', ['update', '-qq'], { env });
  await run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...PACKAGES], { env });
}

/**
 * The image that the Dockerfile begins with, made under its name without a registry: Debian, Node from npm's package of
 * the same version, the user "node". Registries are reached from within as from this machine.
 */
export async function importBase(socketPath: string): Promise<void> {
  const [, name = '', major = '', suite = ''] =
    /^FROM ((?:node):(\d+)-(\w+)-slim) AS build$/m.exec(await readFile(join(root, 'Dockerfile'), 'utf8')) ??
    [];
  await importFolder(socketPath, name, ['CMD ["node"]'], async (folder) => {
    await run('debootstrap', ['--variant=minbase', '--include=ca-certificates', suite, folder], MACHINE);
    await installNode(folder, major);
    await run('chroot', [folder, 'useradd', '-m', '-u', '1000', '-s', '/bin/bash', 'node']);
    const bundle = 'etc/ssl/certs/ca-certificates.crt';
    await cp(`/${bundle}`, join(folder, bundle), { force: true, dereference: true });
  });
}

async function installNode(folder: string, major: string): Promise<void> {
  const local = join(folder, 'usr/local');
  const own = await mkdtemp(join(tmpdir(), 'mcpbridge-node-'));
  try {
    await run('npm', ['install', '--no-audit', '--no-fund', '--prefix', own, `node@${major}`], MACHINE);
    await cp(join(own, 'node_modules/node/bin/node'), join(local, 'bin/node'));
  } finally {
    await rm(own, { recursive: true, force: true });
  }
  const npm = (await run('npm', ['root', '-g'], MACHINE)).trim();
  const modules = join(local, 'lib/node_modules');
  await mkdir(modules, { recursive: true });
  await cp(join(npm, 'npm'), join(modules, 'npm'), { recursive: true });
  await symlink('../lib/node_modules/npm/bin/npm-cli.js', join(local, 'bin/npm'));
  const registry = (await run('npm', ['config', 'get', 'registry'], MACHINE)).trim();
  await mkdir(join(local, 'etc'), { recursive: true });
  const settings = `registry=${registry}\ncafile=/etc/ssl/certs/ca-certificates.crt\n`;
  await writeFile(join(local, 'etc/npmrc'), settings);
}
