import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ended, eventually, isAlive } from '../../support/processes.js';
import { BridgeCaller, type Caller, HttpCaller, type Outcome } from './callers.js';
import { DEADLINE_MS, GONE_WITHIN_MS, type House, type Lane } from './house.js';

/** A failure is told to its caller within this time of its cause. */
const TOLD_WITHIN_MS = 1000;

export interface Scene {
  house: House;
  lane: Lane;
}

/** One thing that goes wrong once; `run` throws when what follows is not what was promised. */
export interface Fault {
  name: string;
  run(scene: Scene): Promise<void>;
}

export type How = 'HTTP' | 'bridge';

export function callerFor({ house }: Scene, how: How): Promise<Caller> {
  return how === 'HTTP' ? Promise.resolve(new HttpCaller(house.running)) : BridgeCaller.start(house.running);
}

/** A file that a hanging call writes when it has begun. */
export function newMark(): { mark: string; began(): Promise<void> } {
  const mark = join(mkdtempSync(join(tmpdir(), 'mcpbridge-mark-')), 'begun');
  return { mark, began: async () => void (await eventually('the call has begun', () => existsSync(mark))) };
}

export async function pidOf(caller: Caller, server: string): Promise<number> {
  const outcome = await works(caller, server, 'pid');
  return Number(outcome.text);
}

/** Calls and demands an answer. */
export async function works(
  caller: Caller,
  server: string,
  tool = 'echo',
  args: object = {},
): Promise<Outcome> {
  const outcome = await caller.call(server, tool, args);
  if (outcome.code !== undefined)
    throw new Error(`"${tool}" of ${server} failed: ${outcome.code} ${outcome.text}`);
  return outcome;
}

/** The call fails so, and within a second of `cause` (by `performance.now()`). */
export async function failsAtOnce(call: Promise<Outcome>, code: string, cause: number): Promise<void> {
  const { code: got, text } = await call;
  const ms = performance.now() - cause;
  if (got !== code) throw new Error(`${code} was to be told, but it was ${got ?? 'an answer'}: ${text}`);
  if (ms > TOLD_WITHIN_MS) throw new Error(`${code} was told ${Math.round(ms)} ms after its cause.`);
}

/** The call ends at its deadline, and not before it. */
export async function failsAtDeadline(call: Promise<Outcome>): Promise<void> {
  const { code, text, ms } = await call;
  if (code !== 'CALL_TIMEOUT') throw new Error(`CALL_TIMEOUT was to be told, but it was ${code}: ${text}`);
  const late = ms - DEADLINE_MS;
  if (late < -50 || late > TOLD_WITHIN_MS)
    throw new Error(`The deadline was missed by ${Math.round(late)} ms.`);
}

export async function allGone(what: string, pids: readonly number[]): Promise<void> {
  await eventually(`${what} is gone`, () => !pids.some(isAlive), GONE_WITHIN_MS);
}

/** Kills a process of ours and sees it dead. */
export async function killed(caller: BridgeCaller): Promise<void> {
  caller.bridge.process.kill('SIGKILL');
  await ended(caller.bridge.process);
}
