import type { ChildProcess } from 'node:child_process';
import { startOutliving } from './outliving-process.js';

/**
 * Reads `+ ID` and `- ID` of process groups. Its input ends when this process is gone, however that came;
 * what is still noted then is ended. The groups are stopped first: while their processes hold still, those that left
 * the group by setsid are found as children of children.
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
while read -r sign id; do
  case $sign in
    +) groups="$groups$id " ;;
    -) groups="\${groups%% $id *} \${groups#* $id }" ;;
  esac
done
[ "$groups" = ' ' ] && exit 0
for id in $groups; do kill -s STOP -- "-$id"; done
strays=$(for id in $groups; do below "$id"; done)
for id in $groups; do kill -s TERM -- "-$id"; kill -s CONT -- "-$id"; done
for id in $strays; do kill -s TERM "$id"; done
sleep 2
for id in $groups; do kill -s KILL -- "-$id"; done
for id in $strays; do kill -s KILL "$id"; done
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
  return startOutliving('/bin/sh', ['-c', SCRIPT], { PATH: '/usr/local/bin:/usr/bin:/bin' }, (child) => {
    if (guard === child) guard = undefined;
  });
}
