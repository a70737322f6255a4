import { spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';
import { AppError } from '@mcpbridge/shared/errors.js';
import { type Scope, topFolders } from './scope.js';

const OPTIONS = [
  '--no-config',
  '--files-with-matches',
  '--null',
  '--no-messages',
  // What is no text is sorted out when it is read, in one way for all.
  '--text',
  '--hidden',
  '--no-ignore',
  '--glob=!.git',
];

/** The ripgrep that came as a package, else the machine's; undefined: there is none. */
export function findRipgrep(path = ''): string | undefined {
  try {
    const name = process.platform === 'win32' ? 'rg.exe' : 'rg';
    return createRequire(import.meta.url).resolve(
      `@vscode/ripgrep-${process.platform}-${process.arch}/bin/${name}`,
    );
  } catch {
    // Not every platform has one.
  }
  return path
    .split(delimiter)
    .filter(Boolean)
    .map((folder) => join(folder, 'rg'))
    .find(isProgram);
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

export interface Sought {
  scope: Scope;
  /** As Rust has them. */
  expression: string;
  ignoreCase: boolean;
  deadline: number;
  signal: AbortSignal;
}

/**
 * The files in which something fits the expression, in no order; nothing of what is in them. Undefined
 * when ripgrep does not take the expression. Whoever reads them asks the guard about each.
 */
export function filesWith(command: string, sought: Sought): Promise<string[] | undefined> {
  const { scope, deadline, signal } = sought;
  const folders = topFolders(scope);
  if (folders.length === 0) return Promise.resolve([]);
  if (signal.aborted) return Promise.reject(gone());
  // Without a stdin that is closed it would search that.
  const child = spawn(command, argumentsFor(sought, folders), {
    cwd: scope.root,
    env: {},
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const read = new Paths();
  child.stdout.on('data', (bytes: Buffer) => read.add(bytes));
  const stop = () => child.kill('SIGKILL');
  const timer = setTimeout(stop, Math.max(0, deadline - Date.now()));
  signal.addEventListener('abort', stop, { once: true });
  return new Promise((resolve, reject) => {
    child.on('error', () => resolve(undefined));
    child.on('close', (code, ending) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
      // 2: something could not be read, or the expression is none for it; then nothing was found, too.
      const refused = ending !== null || (code === 2 && read.paths.length === 0);
      if (signal.aborted) reject(gone());
      else resolve(refused ? undefined : read.paths);
    });
  });
}

function argumentsFor({ scope, expression, ignoreCase }: Sought, folders: string[]): string[] {
  return [
    ...OPTIONS,
    ...scope.guard.blocked.map((folder) => `--glob=!/${escaped(folder)}`),
    ignoreCase ? '--ignore-case' : '--case-sensitive',
    `--regexp=${expression}`,
    '--',
    ...folders.map((folder) => `./${folder}`),
  ];
}

function gone(): AppError {
  return new AppError('CALL_CANCELLED', 'The caller went away.');
}

/** As one path and no pattern. */
function escaped(path: string): string {
  return path.replaceAll(/[\\*?[\]{}!]/g, '\\$&');
}

/** `./a/b\0./c\0` in pieces of any size. */
class Paths {
  readonly paths: string[] = [];
  private rest: Buffer = Buffer.alloc(0);

  add(bytes: Buffer): void {
    let chunk = this.rest.length > 0 ? Buffer.concat([this.rest, bytes]) : bytes;
    for (let end = chunk.indexOf(0); end !== -1; end = chunk.indexOf(0)) {
      this.paths.push(chunk.toString('utf8', 0, end).replace(/^(\.\/)+/, ''));
      chunk = chunk.subarray(end + 1);
    }
    this.rest = chunk;
  }
}
