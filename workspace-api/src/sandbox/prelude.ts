import type { Limits } from './sandbox.js';

/** Exit code of the prelude when the command could not be confined; no output of a command comes with it. */
const NOT_CONFINED = 125;

/**
 * A shell line that sets what every process below it inherits, then becomes "$@". It is the same for all shells that
 * are called sh; where a limit of the machine is lower already, that one stays.
 */
export function limitsLine({ memoryBytes, fileBytes, openFiles }: Limits): string {
  const set = (flag: string, value: number) => `ulimit ${flag} ${Math.floor(value)} 2>/dev/null`;
  return [set('-c', 0), set('-f', fileBytes / 512), set('-d', memoryBytes / 1024), set('-n', openFiles)].join(
    '; ',
  );
}

/**
 * Processes at once. The system counts those of the user, or of the user namespace that a command has to itself; it
 * does not count root's, for whom there are control groups.
 */
export function processesLine(processes: number): string {
  return `ulimit -u ${processes} 2>/dev/null || ulimit -p ${processes} 2>/dev/null`;
}

/** Puts the shell, and so all that comes from it, into control groups; without them the command must not run. */
export function joinLine(folders: readonly string[]): string {
  return folders.map((folder) => `echo $$ >'${folder}/cgroup.procs' || exit ${NOT_CONFINED}`).join('; ');
}

/**
 * A shell line that goes on only where each of these folders is the one that it was when it was judged, as
 * `device:inode`. It stands within the sandbox, whose folders nobody exchanges any more: before, a name is no promise.
 */
export function sameFoldersLine(identities: ReadonlyMap<string, string>): string {
  if (identities.size === 0) return '';
  const folders = [...identities.keys()].map(quoted).join(' ');
  const expected = [...identities.values()].join('\n');
  const complaint =
    'A folder of the session was exchanged for another one while the command started; it did not run.';
  return `[ "$(stat -c %d:%i ${folders} 2>/dev/null)" = '${expected}' ] || { echo '${complaint}' >&2; exit ${NOT_CONFINED}; }`;
}

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
