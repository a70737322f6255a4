import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { startOutliving } from './outliving-process.js';

/** In the environment of every process of a group, unless it took it out: `OUR_MARK.N`. */
export const GROUP_MARK = 'MCPBRIDGE_GROUP';
export const OUR_MARK = randomUUID();

/**
 * Reads `+ ID` and `- ID` of process groups. Its input ends when this process is gone, however that came;
 * what is still noted then is ended. The groups are stopped first: while their processes hold still, those that left
 * the group by setsid are found as children of children. Those whose parents ended before are found by their mark.
 */
const SCRIPT = `
trap '' HUP INT TERM
groups=' '
below() {
  for child in $(cat "/proc/$1/task/"*/children); do
    echo "$child"
    below "$child"
  done
}
marked() {
  grep -lF "$1" /proc/[0-9]*/environ | cut -d / -f 3
}
while read -r sign id; do
  case $sign in
    +) groups="$groups$id " ;;
    -) groups="\${groups%% $id *} \${groups#* $id }" ;;
  esac
done
[ "$groups" = ' ' ] && exit 0
for id in $groups; do kill -s STOP -- "-$id"; done
strays="$(for id in $groups; do below "$id"; done) $(marked "$1")"
for id in $groups; do kill -s TERM -- "-$id"; kill -s CONT -- "-$id"; done
for id in $strays; do kill -s TERM "$id"; done
sleep 1
for id in $groups; do kill -s KILL -- "-$id"; done
for id in $strays $(marked "$1"); do kill -s KILL "$id"; done
`;

const guarded = new Set<number>();
let guard: ChildProcess | undefined;

/** From now on the group ends with this process, even if this one is killed without a chance to act. */
export function guardGroup(id: number): void {
  if (process.platform === 'win32') return;
  if (!guard) {
    guard = startGuard();
    for (const other of guarded) guard.stdin?.write(`+ ${other}\n`);
  }
  guarded.add(id);
  guard.stdin?.write(`+ ${id}\n`);
}

/** The group is gone; its number may soon belong to somebody else. */
export function releaseGroup(id: number): void {
  if (guarded.delete(id)) guard?.stdin?.write(`- ${id}\n`);
}

function startGuard(): ChildProcess {
  const args = ['-c', SCRIPT, 'guard', `${GROUP_MARK}=${OUR_MARK}.`];
  return startOutliving('/bin/sh', args, { PATH: '/usr/local/bin:/usr/bin:/bin' }, (child) => {
    if (guard === child) guard = undefined;
  });
}
