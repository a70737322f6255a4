import { closeSync, existsSync, fstatSync, openSync } from 'node:fs';
import koffi from 'koffi';
import type { JailRules } from './jail-rules.js';

/** Landlock of Linux 6.12: the first that keeps signals and abstract sockets in as well. */
export const NEEDED_VERSION = 6;

const CREATE_RULESET = 444;
const ADD_RULE = 445;
const RESTRICT_SELF = 446;
const CREATE_RULESET_VERSION = 1;
const RULE_PATH_BENEATH = 1;

const EXECUTE = 1 << 0;
const WRITE_FILE = 1 << 1;
const READ_FILE = 1 << 2;
const READ_DIR = 1 << 3;
const MAKE_CHAR = 1 << 6;
const MAKE_BLOCK = 1 << 11;
const TRUNCATE = 1 << 14;
/** All that version 5 and later know, devices' own calls included. */
const EVERYTHING = (1 << 16) - 1;
const TO_READ = EXECUTE | READ_FILE | READ_DIR;
const TO_WRITE = EVERYTHING & ~MAKE_CHAR & ~MAKE_BLOCK;
const OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE;

const BIND_AND_CONNECT_TCP = 3;
const ABSTRACT_SOCKETS_AND_SIGNALS = 3;

const O_PATH = 0x200000;
const PR_SET_NO_NEW_PRIVS = 38;
const PR_SET_CHILD_SUBREAPER = 36;
const WITHOUT_WAITING = 1;
const SECCOMP = process.arch === 'arm64' ? 277 : 317;
const SET_FILTER = 1;
const NEW_LISTENER = 1 << 3;
/** Signals do not make it ask anew. */
const WAIT_UNLESS_KILLED = 1 << 5;
const CAPABILITY_VERSION_3 = 0x20080522;

/** The system calls, on the thread that asks; there is nothing of Node's for them. */
function libc(): ReturnType<typeof load> {
  loaded ??= load();
  return loaded;
}

let loaded: ReturnType<typeof load> | undefined;

function load() {
  const library = koffi.load(null);
  const program = koffi.struct({ length: 'uint16_t', instructions: 'void *' });
  return {
    createRuleset: library.func('syscall', 'long', ['long', 'void *', 'long', 'long']),
    addRule: library.func('syscall', 'long', ['long', 'long', 'long', 'void *', 'long']),
    restrictSelf: library.func('syscall', 'long', ['long', 'long', 'long']),
    prctl: library.func('prctl', 'int', ['int', 'long', 'long', 'long', 'long']),
    setFilter: library.func('syscall', 'long', ['long', 'long', 'long', koffi.pointer(program)]),
    // Not Node's own, which warns of a file that it did not open itself.
    close: library.func('close', 'int', ['int']),
    waitpid: library.func('waitpid', 'int', ['int', 'void *', 'int']),
    capset: library.func('capset', 'int', ['void *', 'void *']),
  };
}

/** 0 where the kernel has none. */
export function landlockVersion(): number {
  return Math.max(0, libc().createRuleset(CREATE_RULESET, null, 0, CREATE_RULESET_VERSION));
}

/**
 * Jails the thread that calls it, for good; all that it starts is jailed as well. Other threads are not. Answers the file
 * descriptor that connections are asked for through, where it may make some.
 */
export function jailThisThread(rules: JailRules, filter: Buffer): number | undefined {
  const { read, write, devices, identities, mayConnect } = rules;
  const { createRuleset, addRule, restrictSelf, prctl, setFilter, capset, close } = libc();
  const attributes = Buffer.alloc(24);
  attributes.writeBigUInt64LE(BigInt(EVERYTHING), 0);
  attributes.writeBigUInt64LE(BigInt(BIND_AND_CONNECT_TCP), 8);
  attributes.writeBigUInt64LE(BigInt(ABSTRACT_SOCKETS_AND_SIGNALS), 16);
  const ruleset: number = createRuleset(CREATE_RULESET, attributes, attributes.length, 0);
  must(ruleset >= 0, 'landlock_create_ruleset');
  try {
    for (const path of read) allow(path, TO_READ);
    for (const path of write) allow(path, TO_WRITE);
    for (const path of devices) allow(path, READ_FILE | WRITE_FILE);
    must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) === 0, 'no_new_privs');
    // Root without capabilities may not do what other users may not; with no_new_privs no program brings them back.
    const header = Buffer.alloc(8);
    header.writeUInt32LE(CAPABILITY_VERSION_3, 0);
    must(capset(header, Buffer.alloc(24)) === 0, 'capset');
    must(restrictSelf(RESTRICT_SELF, ruleset, 0) === 0, 'landlock_restrict_self');
  } finally {
    close(ruleset);
  }
  const program = { length: filter.length / 8, instructions: filter };
  const asks = mayConnect ? NEW_LISTENER | WAIT_UNLESS_KILLED : 0;
  const listener: number = setFilter(SECCOMP, SET_FILTER, asks, program);
  must(listener >= 0, mayConnect ? 'seccomp with somebody to ask' : 'seccomp');
  return mayConnect ? listener : undefined;

  /** What is not there needs no rule. */
  function allow(path: string, access: number): void {
    if (!existsSync(path)) return;
    const file = openSync(path, O_PATH);
    // What was opened, not what has that name by now.
    const stats = fstatSync(file, { bigint: true });
    const { [path]: expected = `${stats.dev}:${stats.ino}` } = identities;
    if (`${stats.dev}:${stats.ino}` !== expected)
      throw new Error('a folder of the session was exchanged for another one meanwhile');
    const rule = Buffer.alloc(12);
    rule.writeBigUInt64LE(BigInt(stats.isDirectory() ? access : access & OF_FILES), 0);
    rule.writeInt32LE(file, 8);
    must(addRule(ADD_RULE, ruleset, RULE_PATH_BENEATH, rule, 0) === 0, `landlock_add_rule for ${path}`);
    closeSync(file);
  }
}

/** From now on processes whose parent ended are children of this one, and can be found. */
export function adoptOrphans(): void {
  must(libc().prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) === 0, 'child_subreaper');
}

/** Takes away what an ended child left; only for one that Node did not start, or it would wait for it in vain. */
export function reap(pid: number): void {
  libc().waitpid(pid, null, WITHOUT_WAITING);
}

function must(holds: boolean, what: string): void {
  if (!holds) throw new Error(`${what} failed (errno ${koffi.errno()})`);
}
