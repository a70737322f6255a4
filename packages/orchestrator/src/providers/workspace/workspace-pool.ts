import { Pool } from 'undici';

/** There are no time limits: commands and uploads take as long as they take. */
export function workspacePool(origin: string, socketPath: string | undefined): Pool {
  const connect = socketPath === undefined ? {} : { connect: { socketPath } };
  return new Pool(origin, { ...connect, headersTimeout: 0, bodyTimeout: 0, connections: 256 });
}
