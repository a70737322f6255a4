import { existsSync, readFileSync } from 'node:fs';
import { afterEach, describe, expect, test } from '@jest/globals';
import { api } from '../support/api.js';
import { type RunningOrchestrator, startOrchestrator } from '../support/orchestrator.js';
import { ended, eventually, fixture, isAlive } from '../support/processes.js';
import { featuresServer } from '../support/road.js';
import { Trace } from '../support/trace.js';

/** After the end of whatever they belonged to, all of a server's processes are gone within this time. */
const GONE_WITHIN_MS = 5000;
const server = fixture('features-server.mjs');

/** Goes on for ever, heeds no polite signal, and writes its id into the file. */
const ENDLESS =
  "for (const name of ['SIGTERM', 'SIGHUP', 'SIGINT']) process.on(name, () => {});" +
  "setInterval(() => {}, 1000); require('fs').appendFileSync(process.env.CHILDREN, 'pid ' + process.pid + '\\n')";

interface Kind {
  entry(own: string, children: string): object;
  /** Processes of one connection that write their ids down. */
  noted: number;
}

const kinds: Record<string, Kind> = {
  'ignores SIGTERM': {
    entry: (own) => featuresServer({ TRACE_FILE: own, IGNORE_SIGTERM: '1' }),
    noted: 1,
  },
  'is started through sh -c': {
    entry: (own) => ({ command: 'sh', args: ['-c', `node ${server}; true`], env: { TRACE_FILE: own } }),
    noted: 1,
  },
  'is started through npx': {
    entry: (own) => ({
      command: 'npx',
      args: ['--offline', '-c', `node ${server}`],
      env: { TRACE_FILE: own, IGNORE_STDIN_END: '1' },
    }),
    noted: 1,
  },
  forks: {
    entry: (own, children) => ({
      command: 'sh',
      args: ['-c', `node -e "$ENDLESS" & exec node ${server}`],
      env: { TRACE_FILE: own, CHILDREN: children, ENDLESS },
    }),
    noted: 2,
  },
  'has a child that leaves its group by setsid': {
    entry: (own, children) => ({
      command: 'sh',
      args: ['-c', `setsid node -e "$ENDLESS" & exec node ${server}`],
      env: { TRACE_FILE: own, CHILDREN: children, ENDLESS },
    }),
    noted: 2,
  },
  'has a daemon whose parent is gone': {
    entry: (own, children) => ({
      command: 'sh',
      args: ['-c', `setsid sh -c 'node -e "$ENDLESS" &'; exec node ${server}`],
      env: { TRACE_FILE: own, CHILDREN: children, ENDLESS },
    }),
    noted: 2,
  },
};

/** `serverId`: the process of the session that speaks MCP. */
type WayOut = (running: RunningOrchestrator, serverId: number) => Promise<unknown>;
const waysOut: Record<string, WayOut> = {
  'the end of its session': (running) => api(running).delete('/api/sessions/s'),
  'the death of the server alone': async (_running, serverId) => process.kill(serverId, 'SIGKILL'),
  'a stop of the server': (running) => api(running).post('/api/servers/odd/stop'),
  'SIGTERM of the orchestrator': (running) => {
    running.process.kill('SIGTERM');
    return ended(running.process);
  },
  'two signals to the orchestrator': (running) => {
    running.process.kill('SIGTERM');
    running.process.kill('SIGINT');
    return ended(running.process);
  },
  'SIGKILL of the orchestrator': (running) => {
    running.process.kill('SIGKILL');
    return ended(running.process);
  },
};

/** These leave the processes for the lists as they are. */
const OF_SESSION = ['the end of its session', 'the death of the server alone'];

let running: RunningOrchestrator | undefined;
afterEach(() => running?.stop());

function idsIn(file: string): number[] {
  if (!existsSync(file)) return [];
  return (readFileSync(file, 'utf8').match(/^pid \d+$/gm) ?? []).map((line) => Number(line.slice(4)));
}

describe.each(Object.entries(kinds))('a server that %s', (_kind, { entry, noted }) => {
  test.each(Object.entries(waysOut))('is gone whole after %s', async (way, leave) => {
    const [own, children] = [(await Trace.make()).file, (await Trace.make()).file];
    running = await startOrchestrator({ servers: { odd: entry(own, children) } });
    const ids = () => [...idsIn(own), ...idsIn(children)];
    await eventually('the processes for the lists are there', () => ids().length === noted);
    const listing = ids();
    const { body } = await api(running, 's').post('/tools/mcp/odd/echo').send({ text: 'here' });
    expect(body.result).toBe('here');
    await eventually("the session's processes are there", () => ids().length === 2 * noted);
    const ofSession = ids().filter((id) => !listing.includes(id));
    const serverId = idsIn(own).find((id) => ofSession.includes(id)) as number;
    await leave(running, serverId);
    const leaving = OF_SESSION.includes(way) ? ofSession : ids();
    await eventually('all of them are gone', () => !leaving.some(isAlive), GONE_WITHIN_MS);
    if (leaving === ofSession) expect(listing.every(isAlive)).toBe(true);
  });
});
