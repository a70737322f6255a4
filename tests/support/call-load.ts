import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { RunningOrchestrator } from './orchestrator.js';

interface Load {
  running: RunningOrchestrator;
  /** `server/tool` */
  tool: string;
  /** The arguments of each call. */
  argsOf(number: number): object;
  calls: number;
  session: string;
  connections?: number;
  /** Calls a second; absent: as fast as they are answered. */
  perSecond?: number;
}

/** Many calls over a few kept connections, written by hand: a client of Node costs more than what it measures. */
export async function makeCalls(load: Load): Promise<void> {
  const { running, connections = 16 } = load;
  let sent = 0;
  const start = performance.now();
  const work = async (socket: Socket) => {
    while (sent < load.calls) {
      const number = sent;
      sent += 1;
      await pause(load, number, start);
      const answer = await ask(socket, requestOf(load, number));
      if (!answer.startsWith('HTTP/1.1 200')) throw new Error(`Call ${number} was answered:\n${answer}`);
    }
    socket.destroy();
  };
  await Promise.all(
    Array.from({ length: connections }, async () => {
      const socket = connect(running.port, '127.0.0.1');
      await once(socket, 'connect');
      await work(socket.setNoDelay(true));
    }),
  );
}

function requestOf({ running, tool, session, argsOf }: Load, number: number): string {
  const body = JSON.stringify(argsOf(number));
  const head = {
    host: `127.0.0.1:${running.port}`,
    ...running.headers(session),
    'content-length': Buffer.byteLength(body),
  };
  const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST /tools/mcp/${tool} HTTP/1.1\r\n${lines.join('')}\r\n${body}`;
}

/** Until the call's time has come. */
async function pause({ perSecond }: Load, number: number, start: number): Promise<void> {
  if (perSecond === undefined) return;
  const wait = start + (number * 1000) / perSecond - performance.now();
  if (wait > 1) await new Promise((next) => setTimeout(next, wait));
}

function ask(socket: Socket, request: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const onData = (chunk: Buffer) => {
      answer += chunk.toString('latin1');
      const end = answer.indexOf('\r\n\r\n');
      const length = Number(/content-length: (\d+)/i.exec(answer)?.[1]);
      if (end < 0 || answer.length < end + 4 + length) return;
      socket.off('data', onData).off('error', reject);
      resolve(answer);
    };
    socket.on('data', onData).on('error', reject);
    socket.write(request);
  });
}
