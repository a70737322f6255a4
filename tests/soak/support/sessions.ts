import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import type { RunningOrchestrator } from '../../support/orchestrator.js';
import { ended } from '../../support/processes.js';
import { startBridge, textOf } from '../../support/road.js';

/** A session from its start to its end; throws when a call of it is not answered right. */
type Life = (running: RunningOrchestrator, server: string) => Promise<void>;

const CALLS = 3;
const PAUSE_MS = 150;
const pause = () => new Promise((next) => setTimeout(next, PAUSE_MS));

async function overBridge(running: RunningOrchestrator, server: string, isKilled: boolean): Promise<void> {
  const bridge = startBridge(running);
  await bridge.initialize();
  for (let call = 0; call < CALLS; call++) {
    const text = `call ${call}`;
    expectSame(textOf(await bridge.callTool(`${server}__echo`, { text })), text);
    await pause();
  }
  if (isKilled) bridge.process.kill('SIGKILL');
  else bridge.close();
  await ended(bridge.process);
}

/** Dropped: its connection is cut, as when a program is killed; else its session is ended by a request. */
async function overHttp(running: RunningOrchestrator, server: string, isDropped: boolean): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const session = `soak-${randomUUID()}`;
  const lifetime = isDropped ? 'connection' : 'lasting';
  for (let call = 0; call < CALLS; call++) {
    const text = `call ${call}`;
    const body = await send(
      running,
      agent,
      'POST',
      `/tools/mcp/${server}/echo`,
      { session, lifetime },
      { text },
    );
    expectSame(JSON.parse(body).result, text);
    await pause();
  }
  if (!isDropped) await send(running, agent, 'DELETE', `/api/sessions/${session}`, {});
  agent.destroy();
}

function send(
  running: RunningOrchestrator,
  agent: Agent,
  method: string,
  path: string,
  { session, lifetime }: { session?: string; lifetime?: string },
  args?: object,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const body = args === undefined ? '' : JSON.stringify(args);
    const headers = {
      ...running.headers(session),
      ...(lifetime ? { 'x-session-lifetime': lifetime } : {}),
      'content-length': Buffer.byteLength(body),
    };
    const { port } = running;
    request({ host: '127.0.0.1', port, agent, method, path, headers }, async (response) => {
      resolve((await response.toArray()).join(''));
    })
      .on('error', reject)
      .end(body);
  });
}

function expectSame(actual: unknown, expected: string): void {
  if (actual !== expected)
    throw new Error(`"${expected}" was to come back, it was ${JSON.stringify(actual)}.`);
}

/** In turns; all of them go on side by side. */
export const lives: Life[] = [
  (running, server) => overHttp(running, server, false),
  (running, server) => overBridge(running, server, false),
  (running, server) => overHttp(running, server, true),
  (running, server) => overBridge(running, server, true),
];
