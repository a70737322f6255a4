import { readFile } from 'node:fs/promises';
import { createConnection, type Socket } from 'node:net';
import type { RunningOrchestrator } from './orchestrator.js';
import { eventually } from './processes.js';

export interface RawAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** The length of an empty queue in /proc/net/tcp. */
const NOTHING = '00000000';

function portOf(address: string | undefined): number {
  return Number.parseInt(address?.split(':')[1] ?? '', 16);
}

/** A connection on which a test writes what no HTTP library would, and reads the answers one by one. */
export class RawConnection {
  private received = Buffer.alloc(0);
  private ended = false;
  private wake: (() => void) | undefined;

  private constructor(readonly socket: Socket) {
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => {
      this.received = Buffer.concat([this.received, chunk]);
      this.wake?.();
    });
    socket.on('error', () => {
      // The server cut the connection, which the tests that expect it see by its end.
    });
    socket.on('close', () => {
      this.ended = true;
      this.wake?.();
    });
  }

  static open(port: number): Promise<RawConnection> {
    return new Promise((resolve, reject) => {
      const socket = createConnection(port, '127.0.0.1', () => resolve(new RawConnection(socket)));
      socket.once('error', reject);
    });
  }

  /** Resolves when the bytes are with the system. */
  send(text: string): Promise<void> {
    return new Promise((resolve) => this.socket.write(text, 'latin1', () => resolve()));
  }

  /** Resolves when the server's system has all that was sent, and, if `read`, its process as well. */
  async arrived({ read }: { read: boolean }): Promise<void> {
    const { localPort = 0, remotePort = 0 } = this.socket;
    await eventually('what was sent arrives', async () => {
      const lines = (await readFile('/proc/net/tcp', 'latin1'))
        .split('\n')
        .map((line) => line.trim().split(/\s+/));
      const queues = (from: number, to: number) =>
        lines.find(([, local, remote]) => portOf(local) === from && portOf(remote) === to)?.[4]?.split(':');
      const isSent = queues(localPort, remotePort)?.[0] === NOTHING;
      const isRead = queues(remotePort, localPort)?.[1] === NOTHING;
      return isSent && isRead === read;
    });
  }

  /** The next answer; undefined when the server closed the connection before a whole one. */
  async next(): Promise<RawAnswer | undefined> {
    for (;;) {
      const answer = this.take();
      if (answer || this.ended) return answer;
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
  }

  private take(): RawAnswer | undefined {
    const text = this.received.toString('latin1');
    const end = text.indexOf('\r\n\r\n');
    if (end < 0) return undefined;
    const [first = '', ...lines] = text.slice(0, end).split('\r\n');
    const headers = Object.fromEntries(
      lines.map((line) => [line.split(':')[0]?.toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
    );
    const start = end + 4;
    const size = bodyLength(text.slice(start), headers);
    if (size === undefined || text.length < start + size) return undefined;
    const body = this.received.subarray(start, start + size).toString('utf8');
    this.received = this.received.subarray(start + size);
    return { status: Number(first.split(' ')[1]), headers, body };
  }
}

function bodyLength(rest: string, headers: Record<string, string>): number | undefined {
  if (headers['transfer-encoding'] !== 'chunked') return Number(headers['content-length'] ?? 0);
  const last = rest.startsWith('0\r\n\r\n') ? 0 : rest.indexOf('\r\n0\r\n\r\n') + 2;
  return last === 1 ? undefined : last + 5;
}

/** A call of `bare/echo` to the letter; `lines` come after the usual ones. */
export function echoRequest(running: RunningOrchestrator, text: string, lines: string[] = []): string {
  const body = JSON.stringify({ text });
  const usual = [
    'POST /tools/mcp/bare/echo HTTP/1.1',
    `Host: 127.0.0.1:${running.port}`,
    `Authorization: Bearer ${running.token}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  return `${[...usual, ...lines].join('\r\n')}\r\n\r\n${Buffer.from(body).toString('latin1')}`;
}
