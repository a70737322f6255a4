import type { CancelSignal } from '@mcpbridge/shared/cancel.js';
import type { ServerEntry } from '../../config/server-entry.js';
import { openStdio } from './stdio/stdio.js';
import type { Transport, TransportContext } from './transport.js';

/** Rejects with an AppError that says why there is no connection; aborting `signal` ends a connect under way. */
export async function openTransport(
  { id, transport }: ServerEntry,
  context: TransportContext,
  signal: CancelSignal,
): Promise<Transport> {
  if (transport.kind === 'stdio') return openStdio(id, transport, context);
  if (transport.kind === 'docker') {
    const { openDocker } = await import('./docker/docker.js');
    return openDocker(id, transport, context, signal);
  }
  // The MCP SDK takes a quarter of a second to load; who has no remote server never pays for it. dockerode likewise.
  const { openHttp } = await import('./http/http.js');
  return openHttp(id, transport, context, signal);
}
