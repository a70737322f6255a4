import { parseDuration } from '@mcpbridge/shared/duration.js';
import { AppError } from '@mcpbridge/shared/errors.js';
import type { SandboxWish } from '../sandbox/choose.js';
import type { Limits } from '../sandbox/sandbox.js';

export interface ShellSettings {
  sandbox: SandboxWish;
  limits: Limits;
  /** Of a command that asks for none. */
  timeoutMs: number;
  /** Files and folders of the machine that every command may read, beside those of programs. */
  paths: string[];
}

const MIB = 1024 * 1024;
const WISHES: readonly SandboxWish[] = ['auto', 'bubblewrap', 'landlock', 'sandbox-exec', 'unsafe'];

/** @throws CONFIG_INVALID with what to set */
export function readShellSettings(env: NodeJS.ProcessEnv): ShellSettings {
  return {
    sandbox: wish(env.SHELL_SANDBOX),
    limits: {
      memoryBytes: size('SHELL_MEMORY', env.SHELL_MEMORY, 2048 * MIB),
      processes: count('SHELL_PROCESSES', env.SHELL_PROCESSES, 256),
      fileBytes: size('SHELL_FILE_SIZE', env.SHELL_FILE_SIZE, 1024 * MIB),
      openFiles: 4096,
    },
    timeoutMs: duration('SHELL_TIMEOUT', env.SHELL_TIMEOUT, 120_000),
    paths: (env.SHELL_PATHS ?? '').split(':').filter(Boolean),
  };
}

function wish(text = 'auto'): SandboxWish {
  const found = WISHES.find((one) => one === (text || 'auto'));
  if (found) return found;
  throw invalid('SHELL_SANDBOX', text, `one of ${WISHES.join(', ')}`);
}

function size(name: string, text: string | undefined, fallback: number): number {
  if (!text) return fallback;
  const [, digits, unit = ''] = /^(\d+)([kmg]?)$/i.exec(text.trim()) ?? [];
  const value = Number(digits) * 1024 ** ['', 'k', 'm', 'g'].indexOf(unit.toLowerCase());
  if (value >= MIB) return value;
  throw invalid(name, text, 'a size of a mebibyte or more, such as 512m or 2g');
}

function count(name: string, text: string | undefined, fallback: number): number {
  const value = text ? Number(text) : fallback;
  if (Number.isInteger(value) && value > 0) return value;
  throw invalid(name, text, 'a whole number from 1 up');
}

function duration(name: string, text: string | undefined, fallback: number): number {
  const value = text ? parseDuration(text) : fallback;
  if (value !== undefined && value > 0) return value;
  throw invalid(name, text, 'a time such as 30s or 5m');
}

function invalid(name: string, text: string | undefined, what: string): AppError {
  return new AppError('CONFIG_INVALID', `${name} is "${text}"; set it to ${what}.`);
}
