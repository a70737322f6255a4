import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AppError, messageOf } from '@mcpbridge/shared/errors.js';
import { bubblewrap } from './bubblewrap.js';
import type { Cgroups } from './cgroups.js';
import type { OrchestratorAddress } from './forward.js';
import { landlock } from './landlock.js';
import type { MachinePaths } from './machine-paths.js';
import type { Mechanism } from './sandbox.js';
import { sandboxExec } from './sandbox-exec.js';
import { unsafe } from './unsafe.js';

/** What the operator wants; `auto`: the best that works. */
export type SandboxWish = 'auto' | 'bubblewrap' | 'landlock' | 'sandbox-exec' | 'unsafe';

interface Parts {
  wish: SandboxWish;
  machine: MachinePaths;
  cgroups: Cgroups | undefined;
  /** Of the mechanism itself; no command may read it. */
  folder: string;
  orchestrator: () => OrchestratorAddress | undefined;
  added: readonly string[];
}

/**
 * The first mechanism that passes its trial: a command that runs, and cannot read a file outside its folders.
 * Rejects with SANDBOX_UNAVAILABLE and what is wrong with each.
 */
export async function chooseMechanism(parts: Parts): Promise<Mechanism> {
  const { wish } = parts;
  if (process.platform === 'win32' && wish !== 'unsafe')
    throw refused('Windows has nothing to confine commands with; run the workspace in WSL or in a container');
  if (wish === 'unsafe') return unsafe();
  const usual =
    process.platform === 'darwin' ? ['sandbox-exec' as const] : (['bubblewrap', 'landlock'] as const);
  const failures: string[] = [];
  for (const name of wish === 'auto' ? usual : [wish]) {
    try {
      const mechanism = await make(name, parts);
      await tryOut(mechanism, parts.folder);
      return mechanism;
    } catch (thrown) {
      failures.push(`${name}: ${messageOf(thrown)}`);
    }
  }
  throw refused(failures.join(' '));
}

async function make(name: Exclude<SandboxWish, 'auto' | 'unsafe'>, parts: Parts): Promise<Mechanism> {
  if (name === 'bubblewrap') return bubblewrap(parts);
  if (name === 'landlock') return landlock(parts);
  return sandboxExec(parts.orchestrator, parts.added);
}

const TRIAL_MS = 10_000;

async function tryOut(mechanism: Mechanism, folder: string): Promise<void> {
  const secret = join(folder, 'trial');
  writeFileSync(secret, 'secret', { mode: 0o600 });
  const scratch = join(folder, 'scratch');
  const { dev, ino } = statSync(scratch, { bigint: true });
  const identities = { [scratch]: `${dev}:${ino}` };
  const started = await mechanism.start({
    argv: ['/bin/sh', '-c', 'if cat "$0" 2>/dev/null; then echo open; else echo closed; fi', secret],
    cwd: scratch,
    env: {},
    stdin: undefined,
    confinement: { home: scratch, read: [], write: [scratch], blocked: [], scratch, identities },
    limits: { memoryBytes: 256 * 1024 * 1024, processes: 32, fileBytes: 1024 * 1024, openFiles: 256 },
    network: undefined,
    address: undefined,
  });
  const late = setTimeout(() => started.kill(), TRIAL_MS);
  let printed = '';
  let complaints = '';
  started.stdout.on('data', (chunk) => (printed += chunk));
  started.stderr.on('data', (chunk) => (complaints += chunk));
  await started.ended;
  clearTimeout(late);
  if (printed.trim() === 'closed') return;
  throw new AppError(
    'SANDBOX_UNAVAILABLE',
    printed === ''
      ? `a trial did not run (${complaints.trim().slice(0, 300)}).`
      : 'a trial was not confined.',
  );
}

function refused(reason: string): AppError {
  return new AppError(
    'SANDBOX_UNAVAILABLE',
    `Commands are not run here, since nothing confines them. ${reason.replace(/[.]?$/, '.')} Install bubblewrap, or set SHELL_SANDBOX=unsafe to run them with all that this program may do.`,
  );
}
