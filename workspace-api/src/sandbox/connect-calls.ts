import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import koffi from 'koffi';

const NOTIFICATION_BYTES = 80;
const RECEIVE = 0xc0502100;
const SEND = 0xc0182101;
const IS_STILL_ASKING = 0x40082102;
const PUT_DESCRIPTOR = 0x40182103;
const IN_PLACE_OF_ANOTHER = 1;

const POLLIN = 1;
const POLLHUP = 0x10;
const POLLERR = 0x08;
/** A thread in a system call cannot be ended; so long it stays in one. */
const WAIT_MS = 200;

const AF_INET = 2;
const SOCK_STREAM = 1;
const O_NONBLOCK = 0o4000;
const O_CLOEXEC = 0o2000000;
const F_SETFL = 4;
const ADDRESS_BYTES = 16;

const EBADF = 9;
const EACCES = 13;
const ECONNREFUSED = 111;

interface Question {
  id: bigint;
  /** Of the thread that connects. */
  pid: number;
  descriptor: number;
  addressAt: bigint;
  addressBytes: number;
}

const library = koffi.load(null);
const ioctl = library.func('ioctl', 'int', ['int', 'ulong', 'void *']);
const poll = library.func('poll', 'int', ['void *', 'ulong', 'int']);
const socket = library.func('socket', 'int', ['int', 'int', 'int']);
const connect = library.func('connect', 'int', ['int', 'void *', 'uint']);
const fcntl = library.func('fcntl', 'int', ['int', 'int', 'long']);
const close = library.func('close', 'int', ['int']);

/**
 * Answers each `connect` of jailed processes until the last of them is gone: one to `allowed` is made here, to `port` on
 * loopback, and put in the place of the caller's socket; every other is refused. What is looked at is a copy of the
 * address, and the caller's own call is never carried out, so it cannot be exchanged in between.
 */
export function answerConnections(
  listener: number,
  allowed: { host: string; port: number },
  port: number,
): void {
  const wanted = addressOf(allowed.host, allowed.port);
  const target = addressOf('127.0.0.1', port);
  try {
    for (;;) {
      const events = waitFor(listener);
      if (events & POLLIN) answer();
      else if (events & (POLLHUP | POLLERR)) return;
    }
  } finally {
    // Whoever still asks is refused by the system.
    close(listener);
  }

  function answer(): void {
    const question = receive(listener);
    if (!question) return;
    let error: number;
    try {
      error = decide(question);
    } catch {
      // It went away, or may not be looked at: it gets nothing.
      error = EACCES;
    }
    reply(listener, question.id, error);
  }

  function decide(question: Question): number {
    if (!readAddress(question).equals(wanted)) return ECONNREFUSED;
    const flags = flagsOf(question);
    if (flags === undefined) return EBADF;
    const made = socket(AF_INET, SOCK_STREAM | O_CLOEXEC, 0);
    try {
      if (made < 0 || connect(made, target, target.length) !== 0) return ECONNREFUSED;
      if (flags & O_NONBLOCK) fcntl(made, F_SETFL, O_NONBLOCK);
      return put(listener, question, made, flags & O_CLOEXEC) ? 0 : EACCES;
    } finally {
      close(made);
    }
  }
}

function waitFor(listener: number): number {
  const asked = Buffer.alloc(8);
  write32(asked, 0, listener);
  asked.writeUInt16LE(POLLIN, 4);
  return poll(asked, 1, WAIT_MS) > 0 ? asked.readUInt16LE(6) : 0;
}

/** Undefined: whoever asked is gone. */
function receive(listener: number): Question | undefined {
  const told = Buffer.alloc(NOTIFICATION_BYTES);
  if (ioctl(listener, RECEIVE, told) !== 0) return undefined;
  const argument = (index: number) => told.readBigUInt64LE(32 + 8 * index);
  return {
    id: told.readBigUInt64LE(0),
    pid: told.readUInt32LE(8),
    descriptor: Number(argument(0) & 0xffffffffn),
    addressAt: argument(1),
    addressBytes: Number(argument(2) & 0xffffffffn),
  };
}

/** IPv4's part of it, without the padding; empty for what is no such address. */
function readAddress({ pid, addressAt, addressBytes }: Question): Buffer {
  if (addressBytes < ADDRESS_BYTES) return Buffer.alloc(0);
  const address = Buffer.alloc(ADDRESS_BYTES);
  const memory = openSync(`/proc/${pid}/mem`, 'r');
  try {
    if (readSync(memory, address, 0, ADDRESS_BYTES, addressAt) !== ADDRESS_BYTES) return Buffer.alloc(0);
  } finally {
    closeSync(memory);
  }
  return Buffer.concat([address.subarray(0, 8), Buffer.alloc(8)]);
}

/** Of the caller's socket; undefined where it has no such descriptor. */
function flagsOf({ pid, descriptor }: Question): number | undefined {
  const [, digits] =
    /^flags:\s+([0-7]+)$/m.exec(readFileSync(`/proc/${pid}/fdinfo/${descriptor}`, 'utf8')) ?? [];
  return digits === undefined ? undefined : Number.parseInt(digits, 8);
}

/** False where whoever asked is gone, or its number is another's by now. */
function put(listener: number, { id, descriptor }: Question, made: number, flags: number): boolean {
  const who = Buffer.alloc(8);
  who.writeBigUInt64LE(id);
  if (ioctl(listener, IS_STILL_ASKING, who) !== 0) return false;
  const order = Buffer.alloc(24);
  order.writeBigUInt64LE(id, 0);
  order.writeUInt32LE(IN_PLACE_OF_ANOTHER, 8);
  write32(order, 12, made);
  write32(order, 16, descriptor);
  order.writeUInt32LE(flags, 20);
  return ioctl(listener, PUT_DESCRIPTOR, order) >= 0;
}

function reply(listener: number, id: bigint, error: number): void {
  const answer = Buffer.alloc(24);
  answer.writeBigUInt64LE(id, 0);
  answer.writeInt32LE(-error, 16);
  ioctl(listener, SEND, answer);
}

function addressOf(host: string, port: number): Buffer {
  const address = Buffer.alloc(ADDRESS_BYTES);
  address.writeUInt16LE(AF_INET, 0);
  address.writeUInt16BE(port, 2);
  for (const [index, part] of host.split('.').entries()) address[4 + index] = Number(part);
  return address;
}

const write32 = (buffer: Buffer, at: number, value: number) => buffer.writeInt32LE(value, at);
