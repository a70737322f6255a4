import { isRpcId } from '@mcpbridge/shared/json-rpc.js';
import type { ClientPipe } from './client-pipe.js';

const EVERY_MS = 3000;

/** Tells a client that asked for progress every few seconds that the call runs; some give up on silence. */
export function startProgress(token: unknown, client: ClientPipe): () => void {
  if (!isRpcId(token)) return () => {};
  let seconds = 0;
  const timer = setInterval(() => {
    seconds += EVERY_MS / 1000;
    const params = { progressToken: token, progress: seconds, message: `running for ${seconds} s` };
    client.send({ jsonrpc: '2.0', method: 'notifications/progress', params });
  }, EVERY_MS);
  return () => clearInterval(timer);
}
