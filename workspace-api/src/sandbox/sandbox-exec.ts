import { AppError } from '@mcpbridge/shared/errors.js';
import type { OrchestratorAddress } from './forward.js';
import { findProgram } from './programs.js';
import type { Confinement, Mechanism } from './sandbox.js';
import { startInGroup } from './unsafe.js';

/** What programs of macOS read to run at all. */
const MACHINE = [
  '/usr',
  '/bin',
  '/sbin',
  '/System',
  '/Library/Apple',
  '/Library/Developer/CommandLineTools',
  '/opt/homebrew',
  '/private/etc/ssl',
  '/private/var/db/timezone',
  '/private/var/select',
  '/dev',
];

/** macOS: its own sandbox, which Apple calls deprecated and every version has. */
export function sandboxExec(
  orchestrator: () => OrchestratorAddress | undefined,
  added: readonly string[],
): Mechanism {
  const program = findProgram('sandbox-exec');
  if (!program) throw new AppError('SANDBOX_UNAVAILABLE', 'The program "sandbox-exec" is not there.');
  return {
    name: 'sandbox-exec',
    reach: 'direct',
    tree: 'group',
    start(launch) {
      const mayReach = launch.address === undefined ? undefined : orchestrator()?.port;
      const profile = profileOf(launch.confinement, added, mayReach);
      return startInGroup(launch, [program, '-p', profile]);
    },
    close: async () => undefined,
  };
}

/** Of rules that fit, the last counts: what is blocked comes after what is let in. */
export function profileOf(
  { read, write, blocked, scratch }: Confinement,
  added: readonly string[],
  port: number | undefined,
): string {
  const paths = (folders: readonly string[]) =>
    folders.map((folder) => `(subpath ${JSON.stringify(folder)})`).join(' ');
  const rules = [
    '(version 1)',
    '(deny default)',
    '(allow process-fork)',
    '(allow process-exec)',
    '(allow signal (target same-sandbox))',
    '(allow sysctl-read)',
    '(allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo"))',
    '(allow file-read-metadata)',
    `(allow file-read* (literal "/") ${paths([...MACHINE, ...added, ...read])})`,
    `(allow file-read* file-write* ${paths([...write, scratch])})`,
    '(allow file-write-data (literal "/dev/null") (literal "/dev/zero") (literal "/dev/dtracehelper"))',
    ...(blocked.length > 0 ? [`(deny file-read* file-write* ${paths(blocked)})`] : []),
    ...(port === undefined ? [] : [`(allow network-outbound (remote ip "localhost:${port}"))`]),
  ];
  return rules.join('\n');
}
