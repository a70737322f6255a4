import { resolve } from 'node:path';
import type { JsonObject } from '@mcpbridge/shared/json-rpc.js';
import type { Reading } from './reading.js';
import type { DockerMount, DockerTransportEntry } from './server-entry.js';
import { texts } from './texts.js';

/** What people write beside a `command`, and where it stands for a container. */
const MOVED: Record<string, string> = {
  args: 'write them into "docker.command"',
  env: 'move it into "docker"',
  envFile: 'write the variables into "docker.env"',
  cwd: 'a container begins in the folder of its image',
  working_dir: 'a container begins in the folder of its image',
  headers: 'they belong to a "url"',
};
/** `source:/target` or `source:/target:ro`; a source may be `C:\data`. */
const MOUNT = /^(.+?):(\/[^:]*)(?::(ro|rw))?$/;
const SIZE = /^(\d+(?:\.\d+)?)\s*([bkmg]?)b?$/i;
const UNITS: Record<string, number> = { '': 1, b: 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 };

/** The `docker` of an entry, whose shape has been checked. */
export function readDocker(reading: Reading, docker: JsonObject): DockerTransportEntry {
  const { raw, faults, fill } = reading;
  for (const [field, instead] of Object.entries(MOVED)) {
    if (raw[field] !== undefined) faults.push(`"${field}" does not go with "docker"; ${instead}.`);
  }
  const image = fill('docker.image', docker.image ?? '');
  if (image.trim() === '') faults.push('"docker.image" has to name the image to run.');
  const memoryBytes = memoryOf(reading, docker.memory);
  const cpus = cpusOf(reading, docker.cpus);
  const network = docker.network === undefined ? undefined : fill('docker.network', docker.network);
  return {
    kind: 'docker',
    image,
    command: listOf(docker.command).map((word, index) => fill(`docker.command.${index}`, word)),
    mounts: listOf(docker.mounts).flatMap((mount, index) => mountOf(reading, mount, index)),
    env: texts('docker.env', docker.env, fill),
    ...(memoryBytes === undefined ? {} : { memoryBytes }),
    ...(cpus === undefined ? {} : { cpus }),
    ...(network === undefined ? {} : { network }),
  };
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function mountOf({ context, faults, fill }: Reading, given: unknown, index: number): DockerMount[] {
  const field = `docker.mounts.${index}`;
  // Like in a shell, whose work this is for `docker run -v`.
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a placeholder of the configuration is meant
  const text = fill(field, String(given).replace(/^~(?=[/\\])/, '${userHome}'));
  const [, source, target, mode] = MOUNT.exec(text) ?? [];
  if (source === undefined || target === undefined) {
    faults.push(
      `"${field}" is "${given}"; write "folder:/folder/inside", with ":ro" after it for reading only.`,
    );
    return [];
  }
  const isFolder = /[/\\]/.test(source) || source.startsWith('.');
  return [
    {
      kind: isFolder ? 'bind' : 'volume',
      source: isFolder ? resolve(context.folder, source) : source,
      target,
      readOnly: mode === 'ro',
    },
  ];
}

function memoryOf({ faults, fill }: Reading, given: unknown): number | undefined {
  if (!isAmount(given)) return undefined;
  const text = fill('docker.memory', given);
  const [, amount, unit = ''] = SIZE.exec(text) ?? [];
  const bytes = Math.round(Number(amount) * (UNITS[unit.toLowerCase()] ?? 1));
  if (bytes > 0) return bytes;
  faults.push(`"docker.memory" is "${given}"; write a size such as "512m" or "2g", or bytes.`);
  return undefined;
}

function cpusOf({ faults, fill }: Reading, given: unknown): number | undefined {
  if (!isAmount(given)) return undefined;
  const cpus = Number(fill('docker.cpus', given));
  if (cpus > 0) return cpus;
  faults.push(`"docker.cpus" is "${given}"; write a number of processors such as 0.5 or 2.`);
  return undefined;
}

/** Anything else was named as a fault of its shape. */
function isAmount(given: unknown): boolean {
  return typeof given === 'string' || typeof given === 'number';
}
