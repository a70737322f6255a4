import { existsSync } from 'node:fs';
import { run } from '../../clients/support/run.js';

const PACKAGES = ['docker.io', 'podman', 'runc'];
const PROGRAMS = ['/usr/sbin/dockerd', '/usr/bin/docker', '/usr/bin/podman', '/usr/sbin/runc'];

export function isInstalled(): boolean {
  return PROGRAMS.every((program) => existsSync(program));
}

/** Debian's Docker and Podman, installed when they are missing; rejects with what to install where it may not. */
export async function installEngines(): Promise<void> {
  if (isInstalled()) return;
  if (process.getuid?.() !== 0) {
    throw new Error(`These tests need root and container engines (Debian: ${PACKAGES.join(' ')}).`);
  }
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  await run('apt-get', ['update', '-qq'], { env });
  await run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...PACKAGES], { env });
}
