import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { parentPort, workerData } from 'node:worker_threads';
import { messageOf } from '@mcpbridge/shared/errors.js';
import type { FromJail, JailData, Stream, ToJail } from './jail-messages.js';
import { jailThisThread } from './landlock-calls.js';

// A thread that jails itself, then starts commands: a child has the jail of the thread that it came from.
const { rules, filter } = workerData as JailData;
const listener = jailThisThread(rules, Buffer.from(filter));

const children = new Map<number, ChildProcess>();
const tell = (message: FromJail) => parentPort?.postMessage(message);

parentPort?.on('message', (message: ToJail) => {
  if (message.kind === 'start') startOrSay(message);
  else if (message.kind === 'feed') feed(message);
  else if (message.kind === 'more') children.get(message.id)?.[message.stream]?.resume();
  else (children.get(message.id)?.stdio[3] as Writable | undefined)?.end('\n');
});
tell({ kind: 'ready', listener });

/** What Node throws here would end the thread, and with it what runs beside. */
function startOrSay(message: Extract<ToJail, { kind: 'start' }>): void {
  try {
    start(message);
  } catch (thrown) {
    children.delete(message.id);
    tell({ kind: 'failed', id: message.id, reason: messageOf(thrown) });
  }
}

function start({ id, argv, cwd, env, stdin }: Extract<ToJail, { kind: 'start' }>): void {
  const [program = '', ...args] = argv;
  const child = spawn(program, args, {
    cwd,
    env,
    detached: true,
    stdio: [stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe', 'pipe'],
  });
  child.once('error', (error) => {
    children.delete(id);
    tell({ kind: 'failed', id, reason: error.message });
  });
  // Without files left to open, Node gives it no pipes.
  if (!child.stdio) return;
  children.set(id, child);
  child.once('spawn', () => tell({ kind: 'started', id, pid: child.pid ?? 0 }));
  child.once('exit', (code, signal) => tell({ kind: 'exited', id, code, signal }));
  child.once('close', () => children.delete(id));
  // It may end before it reads what it is given.
  for (const pipe of [child.stdin, child.stdio[3]]) pipe?.on('error', () => undefined);
  if (stdin) feed({ id, text: stdin.text, isLast: !stdin.more });
  forward(id, 'stdout', child.stdout);
  forward(id, 'stderr', child.stderr);
}

function feed({ id, text, isLast }: { id: number; text: string; isLast: boolean }): void {
  const stdin = children.get(id)?.stdin;
  if (isLast) stdin?.end(text);
  else stdin?.write(text);
}

/** One piece at a time, each when the other thread has room for it. */
function forward(id: number, stream: Stream, from: Readable | null): void {
  from?.on('data', (chunk: Buffer) => {
    from.pause();
    tell({ kind: 'printed', id, stream, chunk });
  });
  from?.on('end', () => tell({ kind: 'printed-all', id, stream }));
  from?.pause();
}
