import { readFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { verifies } from '../requirements.js';
import { type RunningOrchestrator, startOrchestrator } from '../support/orchestrator.js';
import { ended, eventually, fixture } from '../support/processes.js';

let running: RunningOrchestrator;
let ledger: string;
beforeAll(async () => {
  ledger = join(await mkdtemp(join(tmpdir(), 'mcpbridge-ledger-')), 'ledger');
  const env = { LEDGER_FILE: ledger };
  const server = { command: process.execPath, args: [fixture('ledger-server.mjs')], env };
  running = await startOrchestrator({ servers: { ledger: server } });
});
afterAll(() => running.stop());

const lines = () => readFileSync(ledger, 'utf8').split('\n').filter(Boolean);
const count = (line: string) => lines().filter((other) => other.startsWith(line)).length;

async function send(path: string, body: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(running.url + path, {
    method: 'POST',
    headers: { ...running.headers(), 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: JSON.parse(await response.text()) };
}

const get = async (path: string) =>
  JSON.parse(await (await fetch(running.url + path, { headers: running.headers() })).text());

const call = (tool: string, callId: string, args: object = {}, headers = {}) =>
  send(`/tools/mcp/ledger/${tool}`, args, { 'x-call-id': callId, 'x-session-id': 'once', ...headers });

const killed = async () => {
  running.process.kill('SIGKILL');
  await ended(running.process);
  running = await startOrchestrator({ again: running });
};

verifies('call.once', async () => {
  const [first, same] = await Promise.all([call('step_1', 'a', { ms: 50 }), call('step_1', 'a', { ms: 50 })]);
  expect(first.body).toMatchObject({ success: true, result: 'step_1 is done' });
  expect(same.body).toEqual(first.body);
  await killed();
  expect((await call('step_1', 'a')).body).toEqual(first.body);
  expect(count('step_1 ')).toBe(1);
  const { calls } = await get('/api/calls?tool=step_1');
  expect(calls).toHaveLength(1);
  expect(calls[0]).toMatchObject({ status: 'ok', server: 'ledger' });
  // Of another session it is another call.
  await call('step_1', 'a', { ms: 1 }, { 'x-session-id': 'other' });
  expect(count('step_1 ')).toBe(2);
});

verifies('call.outcome-unknown', async () => {
  const cut = call('step_2', 'b', { ms: 60_000 }).catch(() => 'cut');
  await eventually('the server has the call', () => count('step_2') === 1);
  await killed();
  expect(await cut).toBe('cut');
  for (const _ of [1, 2]) {
    const { status, body } = await call('step_2', 'b');
    expect([status, body.error.code]).toEqual([502, 'OUTCOME_UNKNOWN']);
  }
  expect(count('step_2')).toBe(1);

  const read = call('wait', 'r', { ms: 60_000 }).catch(() => 'cut');
  await eventually('the server has the call', () => count('wait') === 1);
  await killed();
  expect(await read).toBe('cut');
  expect((await call('wait', 'r')).body.result).toMatch(/^began at/);
  expect(count('wait')).toBe(2);
});

test('a failure of a tool and a refusal of its server are kept like a result', async () => {
  const failed = await call('fail', 'c');
  expect(failed.body).toMatchObject({ success: false, result: 'the disk is full' });
  expect((await call('fail', 'c')).body).toEqual(failed.body);
  expect(count('fail')).toBe(1);
});

test('what was refused before it was sent may be sent again under its id', async () => {
  expect((await call('step_3', 'd', { wrong: 1 })).body.error.code).toBe('INVALID_ARGUMENTS');
  expect((await call('step_3', 'd')).body.success).toBe(true);
});

test('an id with other characters is refused', async () => {
  const { status, body } = await call('step_3', 'no spaces');
  expect([status, body.error.code]).toEqual([400, 'INVALID_REQUEST']);
});

verifies('approvals.parked', async () => {
  await send('/api/sessions', { id: 'careful', tools: { approve: ['ledger__wipe'] } });
  const headers = { 'x-session-id': 'careful', prefer: 'respond-async' };
  const ask = (callId: string) => call('wipe', callId, { what: 'all' }, headers);
  const { status, body } = await ask('w1');
  expect([status, body.error.code]).toEqual([202, 'APPROVAL_PENDING']);
  await killed();
  const waiting = await get('/api/proposals');
  expect(waiting.proposals).toMatchObject([
    { id: body.error.details.proposal, kind: 'call', tool: 'wipe', arguments: { what: 'all' } },
  ]);
  expect((await ask('w1')).body.error.code).toBe('APPROVAL_PENDING');
  const decide = (id: string, decision: object) => send(`/api/proposals/${id}`, decision);
  const edited = { accept: true, arguments: { what: 'cache' } };
  expect((await decide(body.error.details.proposal, edited)).body.status).toBe('accepted');
  expect((await decide(body.error.details.proposal, { accept: false })).status).toBe(404);
  const told = '[A person changed the arguments to {"what":"cache"} before this was carried out.]';
  for (const _ of [1, 2]) expect((await ask('w1')).body.result).toBe(`wiped cache\n${told}`);
  expect(lines().filter((line) => line.startsWith('wipe'))).toEqual(['wipe {"what":"cache"}']);

  const second = await ask('w2');
  await decide(second.body.error.details.proposal, { accept: false, note: 'not today' });
  expect((await ask('w2')).body.error).toMatchObject({
    code: 'NOT_APPROVED',
    message: 'A person refused the call of "wipe": not today',
  });
  expect(count('wipe')).toBe(1);
});

test('a parked call that nobody decides expires', async () => {
  await killedWithShortApprovals();
  const headers = { 'x-session-id': 'careful', prefer: 'respond-async' };
  expect((await call('wipe', 'w3', { what: 'x' }, headers)).status).toBe(202);
  await eventually('it is refused', async () => {
    const { body } = await call('wipe', 'w3', { what: 'x' }, headers);
    return body.error.code === 'NOT_APPROVED';
  });
  const left = await get('/api/proposals');
  expect(left.proposals).toEqual([]);
});

async function killedWithShortApprovals(): Promise<void> {
  running.process.kill('SIGKILL');
  await ended(running.process);
  running = await startOrchestrator({ again: running, env: { APPROVAL_TIMEOUT: '50ms' } });
}
