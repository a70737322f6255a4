/**
 * System calls that commands have no use for and that reach past their confinement. A filter of the kernel (seccomp)
 * answers them with an error; it is inherited, and cannot be taken off.
 */

const EPERM = 1;
const ENOSYS = 38;

type Arch = 'x64' | 'arm64';
const AUDIT_ARCH: Record<Arch, number> = { x64: 0xc000003e, arm64: 0xc00000b7 };
/** Above it are the calls of the x32 ABI, which would go round the list. */
const X32_BIT = 0x40000000;
const NEW_NAMESPACES = 0x7e020000;
const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;
const AF_INET = 2;
const SOCK_STREAM = 1;
const IPPROTO_TCP = 6;
const MSG_FASTOPEN = 0x20000000;
const WHOSE_USER = { priority: 2, io: 3 };

/** On one argument, of which the low half counts. */
type When =
  | { arg: number; has: number }
  | { arg: number; is: number }
  | { arg: number; isNot: number }
  /** Of these bits alone. */
  | { arg: number; of: number; isNot: number };
interface Rule {
  /** Numbers on x64 and arm64; none: the machine has no such call. */
  call: readonly [x64: number | undefined, arm64: number | undefined];
  /** An error's number (default: EPERM), or `ask`: whoever watches the filter. */
  answer?: number | 'ask';
  when?: When;
}

const both = (...numbers: number[]): Rule[] => numbers.map((number) => ({ call: [number, number] }));
const calls = (...pairs: [number | undefined, number | undefined][]): Rule[] =>
  pairs.map((call) => ({ call }));

const ALWAYS: Rule[] = [
  // io_uring does what it is told without the filter being asked, so nobody gets a ring: setup, register. To enter one is
  // free: Node 22 and later have one in each thread, a jailed one too, and abort where it does not work. No program that
  // is started has it, since it is closed at exec.
  ...both(425, 427).map((rule) => ({ ...rule, answer: ENOSYS })),
  // Other processes: ptrace, process_vm_readv, process_vm_writev, kcmp, pidfd_getfd, process_madvise, process_mrelease.
  ...calls([101, 117], [310, 270], [311, 271], [312, 272]),
  ...both(438, 440, 448),
  // File systems: mount, umount2, pivot_root, chroot, open_tree to fspick, mount_setattr, open_tree_attr.
  ...calls([165, 40], [166, 39], [155, 41], [161, 51]),
  ...both(428, 429, 430, 431, 432, 433, 442, 467),
  // Namespaces: setns, unshare, and clone that makes some; clone3 hides its flags, and libraries do without it.
  ...calls([308, 268], [272, 97]),
  { call: [56, 220], when: { arg: 0, has: NEW_NAMESPACES } },
  { call: [435, 435], answer: ENOSYS },
  // The kernel: bpf, perf_event_open, userfaultfd, keys, kexec, modules, reboot, swap, accounts, quotas, ports, clocks,
  // names of the machine, files by handle, fanotify, syslog, vhangup.
  ...calls([321, 280], [298, 241], [323, 282], [248, 217], [249, 218], [250, 219]),
  ...calls([246, 104], [320, 294], [175, 105], [313, 273], [176, 106], [169, 142]),
  ...calls([167, 224], [168, 225], [163, 89], [179, 60], [443, 443], [172, undefined], [173, undefined]),
  ...calls([164, 170], [227, 112], [305, 266], [159, 171], [170, 161], [171, 162]),
  ...calls([304, 265], [300, 262], [103, 116], [153, 58]),
  // Typing into a terminal.
  { call: [16, 29], when: { arg: 1, is: TIOCSTI } },
  { call: [16, 29], when: { arg: 1, is: TIOCLINUX } },
];

/** Every socket: one of a Unix path would open what root's services, Docker above all, listen on. Pairs are free. */
const NO_SOCKETS: Rule[] = calls([41, 198]);

/** TCP over IPv4, out of here alone; whoever watches the filter decides of each connection, and makes it. */
const ONE_WAY_OUT: Rule[] = [
  { call: [41, 198], when: { arg: 0, isNot: AF_INET } },
  { call: [41, 198], when: { arg: 1, of: 0xf, isNot: SOCK_STREAM } },
  // 0 or TCP: not what goes round Landlock's own check, as Multipath TCP did.
  { call: [41, 198], when: { arg: 2, has: ~IPPROTO_TCP } },
  { call: [42, 203], answer: 'ask' },
  // To send can be to connect.
  { call: [44, 206], when: { arg: 3, has: MSG_FASTOPEN } },
  { call: [46, 211], when: { arg: 2, has: MSG_FASTOPEN } },
  { call: [307, 269], when: { arg: 3, has: MSG_FASTOPEN } },
  // bind, listen: without namespaces, what listens can be reached from everywhere.
  ...calls([49, 200], [50, 201]),
];

/** Where no namespaces keep commands from other processes of this user, and from memory that is shared. */
const WITHOUT_NAMESPACES: Rule[] = [
  // Limits and priorities of processes other than the caller's own.
  { call: [302, 261], when: { arg: 0, isNot: 0 } },
  { call: [141, 140], when: { arg: 1, isNot: 0 } },
  { call: [141, 140], when: { arg: 0, is: WHOSE_USER.priority } },
  { call: [251, 30], when: { arg: 1, isNot: 0 } },
  { call: [251, 30], when: { arg: 0, is: WHOSE_USER.io } },
  ...calls([203, 122], [144, 119], [142, 118], [314, 274]).map((rule) => ({
    ...rule,
    when: { arg: 0, isNot: 0 },
  })),
  ...calls([256, 238], [279, 239]),
  // shmget, semget, msgget, mq_open
  ...calls([29, 194], [64, 190], [68, 186], [240, 180]),
];

/** In namespaces; without them and alone; without them and with a connection to what is allowed. */
export type FilterKind = 'namespaces' | 'alone' | 'connecting';

const BESIDES: Record<FilterKind, Rule[]> = {
  namespaces: [],
  alone: [...NO_SOCKETS, ...WITHOUT_NAMESPACES],
  connecting: [...ONE_WAY_OUT, ...WITHOUT_NAMESPACES],
};

/** The filter as the kernel takes it; undefined on processors whose numbers are not known here. */
export function seccompFilter(kind: FilterKind, arch: string = process.arch): Buffer | undefined {
  if (arch !== 'x64' && arch !== 'arm64') return undefined;
  const rules = [...ALWAYS, ...BESIDES[kind]];
  const program = [
    load(ARCH_OFFSET),
    jump(JEQ, AUDIT_ARCH[arch], 1, 0),
    deny(EPERM),
    load(NUMBER_OFFSET),
    ...(arch === 'x64' ? [jump(JGE, X32_BIT, 0, 1), deny(ENOSYS)] : []),
    ...rules.flatMap((rule) => instructionsOf(rule, rule.call[arch === 'x64' ? 0 : 1])),
    ALLOW,
  ];
  return Buffer.concat(program);
}

const NUMBER_OFFSET = 0;
const ARCH_OFFSET = 4;
const argOffset = (index: number) => 16 + 8 * index;

const JEQ = 0x15;
const JGE = 0x35;
const JSET = 0x45;
const AND = 0x54;

function instructionsOf({ answer = EPERM, when }: Rule, number: number | undefined): Buffer[] {
  if (number === undefined) return [];
  if (!when) return [jump(JEQ, number, 0, 1), deny(answer)];
  const looked = [
    load(argOffset(when.arg)),
    ...('of' in when ? [instruction(AND, 0, 0, when.of)] : []),
    testOf(when),
    deny(answer),
    load(NUMBER_OFFSET),
  ];
  return [jump(JEQ, number, 0, looked.length), ...looked];
}

function testOf(when: When): Buffer {
  if ('has' in when) return jump(JSET, when.has, 0, 1);
  return 'is' in when ? jump(JEQ, when.is, 0, 1) : jump(JEQ, when.isNot, 1, 0);
}

function load(offset: number): Buffer {
  return instruction(0x20, 0, 0, offset);
}

/** Skips so many instructions where the test holds, and so many where it does not. */
function jump(test: number, value: number, holds: number, fails: number): Buffer {
  return instruction(test, holds, fails, value);
}

function deny(answer: number | 'ask'): Buffer {
  return instruction(0x06, 0, 0, answer === 'ask' ? 0x7fc00000 : 0x00050000 | answer);
}

function instruction(code: number, jt: number, jf: number, value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16LE(code, 0);
  bytes.writeUInt8(jt, 2);
  bytes.writeUInt8(jf, 3);
  bytes.writeUInt32LE(value >>> 0, 4);
  return bytes;
}

const ALLOW = instruction(0x06, 0, 0, 0x7fff0000);
