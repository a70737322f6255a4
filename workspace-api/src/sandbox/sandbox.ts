import type { Readable } from 'node:stream';

/** What one command may see and change; absolute, real folders. */
export interface Confinement {
  home: string;
  read: readonly string[];
  /** Readable too. */
  write: readonly string[];
  /** Wins over both. */
  blocked: readonly string[];
  /** Of the session alone, for what need not last: the command's temporary folder. */
  scratch: string;
  /**
   * Which folder each of `read` and `write` was when it was judged, as `device:inode`. Their names may lead elsewhere
   * by now: what a mechanism lets the command into must be these.
   */
  identities: Readonly<Record<string, string>>;
}

export interface Limits {
  /** Bytes of each process's data, and of the whole tree where there are cgroups. */
  memoryBytes: number;
  /** Processes at once. */
  processes: number;
  /** Bytes of one file that is written. */
  fileBytes: number;
  openFiles: number;
}

export interface Launch {
  /** The program and its arguments, as they are seen inside. */
  argv: readonly string[];
  cwd: string;
  /** The whole of it, beside what the mechanism itself decides (PATH, HOME, TMPDIR). */
  env: Readonly<Record<string, string>>;
  /** Undefined: there is nothing to read. With `more` it may be given more while it runs. */
  stdin: { text: string; more: boolean } | undefined;
  confinement: Confinement;
  limits: Limits;
  /** The network of its session, with the orchestrator on it and nothing else; undefined: none at all. */
  network: SessionNetwork | undefined;
  /** The orchestrator's, for a command that may reach it. */
  address: string | undefined;
}

/** A network namespace that a mechanism can start commands in. */
export interface SessionNetwork {
  /** Of a process that is in it. */
  readonly pid: number;
}

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  /** A process of it was ended for its memory. */
  outOfMemory: boolean;
}

/** A command that runs. */
export interface Started {
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** After the last process is gone and everything that was printed has been read. */
  readonly ended: Promise<Ended>;
  /** More to read, where it was started so; the last piece ends it. */
  feed(text: string, isLast: boolean): void;
  /** Ends every process of it at once. */
  kill(): void;
}

/** One way to confine commands. */
export interface Mechanism {
  readonly name: 'bubblewrap' | 'landlock' | 'sandbox-exec' | 'unsafe';
  /**
   * How a command that may reach the orchestrator does: in a network of its session, by connections that are made for
   * it, at the orchestrator's own address, or not at all.
   */
  readonly reach: 'namespace' | 'gate' | 'direct' | 'none';
  /** What holds the processes of one command together: a namespace, control groups, or their process group. */
  readonly tree: 'namespace' | 'cgroup' | 'group';
  /** Rejects with SANDBOX_UNAVAILABLE when this command cannot be confined as it must be. */
  start(launch: Launch): Promise<Started>;
  close(): Promise<void>;
}
