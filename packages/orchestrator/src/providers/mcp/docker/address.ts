import { existsSync } from 'node:fs';
import type { RequestOptions } from 'node:http';
import { join } from 'node:path';
import { AppError } from '@mcpbridge/shared/errors.js';

/** Where a container engine listens: a socket file (a named pipe on Windows), or plain TCP. */
export type EngineAddress = { socketPath: string } | { host: string; port: number };

/**
 * What DOCKER_HOST says; without it the first socket that exists of Docker's and Podman's usual ones.
 * Throws PROVIDER_UNAVAILABLE with what was tried; the server's name is put before it.
 */
export function engineAddress(server: string, env: NodeJS.ProcessEnv): EngineAddress {
  if (env.DOCKER_HOST) return saidAddress(server, env.DOCKER_HOST, Boolean(env.DOCKER_TLS_VERIFY));
  const usual = usualSockets(env);
  const found = usual.find((path) => existsSync(path));
  if (found !== undefined) return { socketPath: found };
  throw new AppError(
    'PROVIDER_UNAVAILABLE',
    `Server "${server}" needs a container engine, and there is none at ${usual.join(', ')}; start Docker or Podman, or set DOCKER_HOST to its socket.`,
  );
}

/** How people write it: `unix:///run/docker.sock`, `tcp://host:2375`. */
export function addressText(address: EngineAddress): string {
  return 'socketPath' in address ? `unix://${address.socketPath}` : `tcp://${address.host}:${address.port}`;
}

/** For `node:http`. */
export function requestOptions(address: EngineAddress): RequestOptions {
  return 'socketPath' in address ? { socketPath: address.socketPath } : { ...address };
}

function saidAddress(server: string, said: string, withTls: boolean): EngineAddress {
  const socketPath = /^(?:unix|npipe):\/\/(.+)$/.exec(said)?.[1];
  if (socketPath !== undefined) return { socketPath };
  const url = URL.canParse(said) ? new URL(said) : undefined;
  if (url?.protocol === 'tcp:' && url.hostname !== '' && !withTls) {
    return { host: url.hostname, port: Number(url.port || 2375) };
  }
  throw new AppError(
    'PROVIDER_UNAVAILABLE',
    `Server "${server}" cannot use the container engine of DOCKER_HOST, "${said}"${withTls ? ' with TLS' : ''}: set it to unix:///path or tcp://host:port, or start the server by the command "docker run -i --rm …".`,
    { retryable: false },
  );
}

function usualSockets({ HOME, XDG_RUNTIME_DIR }: NodeJS.ProcessEnv): string[] {
  if (process.platform === 'win32') return ['//./pipe/docker_engine'];
  return [
    '/var/run/docker.sock',
    ...(HOME ? [join(HOME, '.docker/run/docker.sock')] : []),
    ...(XDG_RUNTIME_DIR ? [join(XDG_RUNTIME_DIR, 'docker.sock')] : []),
    ...(XDG_RUNTIME_DIR ? [join(XDG_RUNTIME_DIR, 'podman/podman.sock')] : []),
    '/run/podman/podman.sock',
  ];
}
