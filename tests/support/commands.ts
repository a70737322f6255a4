import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import type { RunningOrchestrator } from './orchestrator.js';

export interface Outcome {
  stdout: string;
  stderr: string;
  exit_code: number;
  execution_time_ms: number;
  error?: string;
  ended_by?: string;
  output_truncated?: boolean;
}

/** Runs commands over `POST /api/execute`, each in a session. */
export function commandsOf(running: RunningOrchestrator) {
  const post = (session: string, body: object, init: RequestInit = {}) =>
    fetch(`${running.url}/api/execute`, {
      ...init,
      method: 'POST',
      headers: { ...running.headers(session), ...init.headers },
      body: JSON.stringify(body),
    });
  return {
    post,
    async run(session: string, command: string, more: object = {}): Promise<Outcome> {
      const response = await post(session, { command, ...more });
      const answer = await response.text();
      if (!response.ok) throw new Error(`${response.status} ${answer}`);
      return JSON.parse(answer);
    },
  };
}

/** Ids of processes that have this text among their arguments; zombies have none. */
export function processesWith(text: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((name) => {
      try {
        return readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0').includes(text);
      } catch {
        // It ended while it was looked at.
        return false;
      }
    })
    .map(Number);
}

const PRCTL = process.arch === 'arm64' ? 167 : 157;

/** Becomes a command line that has no new privileges and a filter of system calls, as in a container; it lets all through. */
export const underFilter = [
  'perl',
  '-e',
  `my $filter = pack("S x6 P", 1, pack("S C C L", 6, 0, 0, 0x7fff0000));
  syscall(${PRCTL}, 38, 1, 0, 0, 0) == 0 && syscall(${PRCTL}, 22, 2, $filter, 0, 0) == 0 or die;
  exec @ARGV`,
];

/** Debian's, installed when it is missing. */
export function installBubblewrap(): void {
  if (existsSync('/usr/bin/bwrap')) return;
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  execFileSync('apt-get', ['update', '-qq'], { env });
  execFileSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'bubblewrap'], { env });
}
