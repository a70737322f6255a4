import type { MachinePaths } from './machine-paths.js';
import type { Confinement } from './sandbox.js';

/** What a thread may still do once it is jailed, and all that it starts. */
export interface JailRules {
  /** Files and folders to read and to run programs of. */
  read: string[];
  /** Folders to do anything in but make devices. */
  write: string[];
  /** Devices, to read and write. */
  devices: string[];
  /** Which folders some of them must be, as `device:inode`. */
  identities: Readonly<Record<string, string>>;
  /** May it connect to the orchestrator? Each connection is asked for; without it there are no sockets. */
  mayConnect: boolean;
}

const DEVICES = ['/dev/null', '/dev/zero', '/dev/full', '/dev/random', '/dev/urandom'];
/** Of the machine; what /proc says of processes stays hidden, of one's own, too. */
const ABOUT_THE_MACHINE = ['cpuinfo', 'meminfo', 'loadavg', 'stat', 'uptime', 'version', 'filesystems'].map(
  (name) => `/proc/${name}`,
);

export function jailRules(
  { read, write, scratch, identities }: Confinement,
  machine: MachinePaths,
  mayConnect: boolean,
): JailRules {
  const links = machine.links.map(({ at }) => at);
  return {
    read: [...machine.readable, ...machine.configuration, ...links, ...ABOUT_THE_MACHINE, ...read],
    write: [...write, scratch],
    devices: DEVICES,
    identities,
    mayConnect,
  };
}
