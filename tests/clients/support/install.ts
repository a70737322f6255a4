import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { root } from '../../support/processes.js';
import { run } from './run.js';

/** Installs npm packages at exact versions into `.cache/clients/<name>`, unless they are there; answers the folder. */
export function installNpm(name: string, dependencies: Record<string, string>): Promise<string> {
  return installOnce(name, dependencies, async (folder) => {
    await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies }));
    // Not the engines: npm would refuse, or take an old version of, what runs on this Node all the same.
    const flags = ['--engine-strict=false', '--ignore-scripts', '--no-audit', '--no-fund'];
    await run('npm', ['install', ...flags], { cwd: folder, env: process.env });
  });
}

/** Makes a virtual environment in `.cache/clients/<name>` with Python packages at exact versions; answers its python. */
export async function installPython(name: string, dependencies: Record<string, string>): Promise<string> {
  const folder = await installOnce(name, dependencies, async (fresh) => {
    await makeVirtualEnvironment(fresh);
    const packages = Object.entries(dependencies).map(([what, version]) => `${what}==${version}`);
    const flags = ['--quiet', '--disable-pip-version-check', '--no-compile'];
    await run(pythonOf(fresh), ['-m', 'pip', 'install', ...flags, ...packages], { env: process.env });
  });
  return pythonOf(folder);
}

const pythonOf = (folder: string) => join(folder, 'bin', 'python');

/** The pins are written last: an install that broke off is done again from the start. */
async function installOnce(
  name: string,
  dependencies: Record<string, string>,
  install: (folder: string) => Promise<void>,
): Promise<string> {
  const folder = join(root, '.cache', 'clients', name);
  const marker = join(folder, 'installed.json');
  const pins = JSON.stringify({ ...dependencies, platform: `${process.platform}-${process.arch}` });
  const installed = await readFile(marker, 'utf8').catch(() => 'nothing');
  if (installed === pins) return folder;
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await install(folder);
  await writeFile(marker, pins);
  return folder;
}

async function makeVirtualEnvironment(folder: string): Promise<void> {
  const make = () => run('python3', ['-m', 'venv', folder], { env: process.env });
  try {
    await make();
  } catch (cause) {
    if (process.getuid?.() !== 0) {
      throw new Error('These tests need Python 3.10 or newer with "venv" (Debian: python3 python3-venv).', {
        cause,
      });
    }
    await run('apt-get', ['update', '-qq'], { env: process.env });
    await run('apt-get', ['install', '-y', '-qq', 'python3', 'python3-venv'], { env: process.env });
    await make();
  }
}
