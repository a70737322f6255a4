import { homedir } from 'node:os';
import { join } from 'node:path';

/**
 * Where a user's orchestrator keeps what a bridge of the same user finds by itself.
 * `MCPBRIDGE_HOME` moves all of it.
 */
export function homeFolder(env: NodeJS.ProcessEnv): string {
  return env.MCPBRIDGE_HOME || join(homedir(), '.mcpbridge');
}

/** The owner's token, mode 0600. */
export function tokenFile(home: string): string {
  return join(home, 'token');
}

/** The Unix socket of the orchestrator that listens on TCP `port`; one home may serve several. */
export function socketFile(home: string, port: number): string {
  return join(home, `${port}.sock`);
}

/** `http://host:8080`, with or without `/api` and trailing slashes, as the address without them. */
export function baseUrl(given: string): URL {
  const url = new URL(given);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new TypeError(`"${given}" is not an http or https address`);
  }
  url.pathname = url.pathname.replace(/\/+$/, '').replace(/\/api$/, '');
  return url;
}

/** True for the addresses that only this machine can reach. */
export function isLoopback(hostname: string): boolean {
  return (
    hostname === 'localhost' || hostname === '[::1]' || hostname === '::1' || /^127(\.\d+){3}$/.test(hostname)
  );
}
