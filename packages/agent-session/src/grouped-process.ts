import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { markedEnvironment, ProcessGroup } from '@mcpbridge/shared/process-group.js';

interface Ending {
  code: number | null;
  signal: NodeJS.Signals | null;
  /** The end of what it wrote on stderr. */
  words: string;
}

interface ProcessOptions {
  cwd: string | undefined;
  env: NodeJS.ProcessEnv;
  stdin: string;
}

/** Characters of stderr that are kept. */
const LAST_WORDS = 2000;

/** A program in a process group of its own, of which nothing outlives it, nor this process. */
export class GroupedProcess {
  readonly ending: Promise<Ending>;
  private readonly group: ProcessGroup;
  private words = '';

  private constructor(
    private readonly child: ChildProcessWithoutNullStreams,
    mark: ReturnType<typeof markedEnvironment>,
  ) {
    this.group = new ProcessGroup(child, child.pid as number, mark);
    child.stderr.on('data', (part) => (this.words = `${this.words}${part}`.slice(-LAST_WORDS)));
    this.ending = once(child, 'exit').then(([code, signal]) => ({ code, signal, words: this.words.trim() }));
    // What it left behind may hold its pipes open, and the end of those is waited for.
    child.once('exit', () => void this.group.end());
  }

  /** Rejects with the system's error when it cannot be started. */
  static async start(command: string, args: string[], options: ProcessOptions): Promise<GroupedProcess> {
    const { cwd, env, stdin } = options;
    const mark = markedEnvironment();
    const child = spawn(command, args, { cwd, env: { ...env, ...mark }, stdio: 'pipe', detached: true });
    // One that has ended reads no more.
    child.stdin.on('error', () => undefined).end(stdin);
    await once(child, 'spawn');
    return new GroupedProcess(child, mark);
  }

  get stdout(): Readable {
    return this.child.stdout;
  }

  end(): Promise<void> {
    return this.group.end();
  }
}
