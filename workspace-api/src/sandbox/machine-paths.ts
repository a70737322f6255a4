import { existsSync, lstatSync, readlinkSync, realpathSync } from 'node:fs';

/** Where the programs are. */
const PROGRAMS = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/nix/store', '/gnu/store'];

/** As much of /etc as programs need to run: no passwords, no keys, nothing of a service. */
const CONFIGURATION = [
  'alternatives',
  'bash.bashrc',
  'ca-certificates',
  'crypto-policies',
  'fonts',
  'group',
  'java',
  'ld.so.cache',
  'ld.so.conf',
  'ld.so.conf.d',
  'localtime',
  'machine-id',
  'magic',
  'mime.types',
  'nsswitch.conf',
  'os-release',
  'passwd',
  'perl',
  'pki',
  'protocols',
  'python3',
  'services',
  'ssl/certs',
  'ssl/openssl.cnf',
  'terminfo',
  'timezone',
].map((name) => `/etc/${name}`);

export interface MachinePaths {
  /** Real files and folders that every command may read. */
  readable: string[];
  /** What is within /etc of them. */
  configuration: string[];
  /** Links between them, as `/bin` is one on most systems. */
  links: { at: string; to: string }[];
}

/** What every command sees of the machine, for reading: programs, their configuration, and what the operator adds. */
export function machinePaths(added: readonly string[]): MachinePaths {
  const readable: string[] = [];
  const links: MachinePaths['links'] = [];
  // The program that runs us is there for the command, too.
  for (const path of [...PROGRAMS, realpathSync(process.execPath), ...added]) {
    if (!existsSync(path)) continue;
    if (PROGRAMS.includes(path) && lstatSync(path).isSymbolicLink())
      links.push({ at: path, to: readlinkSync(path) });
    else if (!readable.some((folder) => path.startsWith(`${folder}/`))) readable.push(path);
  }
  return { readable, configuration: CONFIGURATION.filter((path) => existsSync(path)), links };
}

export const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
