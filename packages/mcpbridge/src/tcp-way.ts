import type { IncomingMessage } from 'node:http';
import { messageOf } from '@mcpbridge/shared/errors.js';
import { BrokenOff, boundConnect, type Incoming, NotReached, type Outgoing } from './attempt.js';
import type { Way } from './way.js';

interface SystemError extends Error {
  code?: string;
  syscall?: string;
  errors?: Error[];
}

/** Idle sockets that are kept for the next burst of calls. */
const POOL = { keepAlive: true, maxFreeSockets: 64 };

/** Through TCP, by node:http or node:https: loaded at the first request, as most bridges never need one. */
export class TcpWay implements Way {
  private open: ReturnType<typeof openerFor> | undefined;

  constructor(private readonly base: URL) {}

  attempt(outgoing: Outgoing, connectMs: number): Promise<Incoming> {
    return new Promise((resolve, reject) => {
      const { method, path, headers, body, stop } = outgoing;
      if (stop?.isFired) return reject(stop.reason);
      const length = body === undefined ? [] : ['Content-Length', String(Buffer.byteLength(body))];
      const raw = ['Host', this.base.host, ...headers, ...length];
      this.open ??= openerFor(this.base);
      const request = this.open({ method, path, headers: raw });
      let written = false;
      stop?.onFire(() => request.destroy());
      request.on('socket', (socket) => boundConnect(socket, connectMs));
      request.on('finish', () => {
        written = true;
        outgoing.onWritten?.();
      });
      request.on('response', (message) => resolve(incomingOf(message)));
      // Stays after the answer's head has come: the rest of the answer may break, too, and tells its own reader.
      request.on('error', (error) => reject(stop?.isFired ? stop.reason : classify(error, written)));
      request.end(body);
    });
  }
}

function openerFor({ protocol, hostname, port }: URL) {
  const { request, Agent } = process.getBuiltinModule(protocol === 'https:' ? 'node:https' : 'node:http');
  const agent = new Agent(POOL);
  const host = hostname.replace(/^\[|\]$/g, '');
  return (options: { method: string; path: string; headers: readonly string[] }) =>
    request({ ...options, protocol, hostname: host, port, agent });
}

function incomingOf(message: IncomingMessage): Incoming {
  return {
    status: message.statusCode ?? 0,
    headers: message.headers,
    read({ onPart, onEnd, onBreak }) {
      message.on('data', onPart).on('end', onEnd).on('error', onBreak);
    },
  };
}

function classify(error: SystemError, written: boolean): NotReached | BrokenOff {
  const { syscall, code, errors } = error;
  // Several addresses of one name, all tried in vain.
  if (errors) return new NotReached(errors.map(messageOf).join(', '), code);
  if (syscall === 'connect' || syscall === 'getaddrinfo') return new NotReached(error.message, code);
  // A failed write leaves the body shorter than its announced length, and such a request is never carried out.
  return new BrokenOff(error.message, written && syscall !== 'write');
}
