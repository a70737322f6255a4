import { Cancel } from '@mcpbridge/shared/cancel.js';
import { AppError } from '@mcpbridge/shared/errors.js';
import type { ServerEntry } from '../../../config/server-entry.js';
import type { ToolList } from '../../provider.js';
import type { Bounds } from '../bounds/bounds.js';
import type { Condition } from '../health/condition.js';
import type { Liveness } from '../health/liveness.js';
import type { Carrier } from '../pool/carrier.js';
import { COMMON } from '../pool/connections.js';
import { startTimeoutOf } from '../pool/start-limit.js';
import { listTools } from './lists.js';

interface Parts {
  carrier: Carrier;
  liveness: Liveness;
  bounds: Bounds;
  condition: Condition;
}

/**
 * Reads a server's tools on the connection of a session that has one (else undefined), or on the common one, which is
 * opened for it; within the time that a start may take.
 */
export function toolReader(
  entry: ServerEntry,
  { carrier, liveness, bounds, condition }: Parts,
): (key: string) => Promise<ToolList | undefined> {
  return async (key) => {
    condition.refuseIfEnded();
    const ms = startTimeoutOf(entry);
    const patience = new Cancel();
    const sentence = `Server "${entry.id}" did not list its tools within ${ms / 1000} s.`;
    const connection =
      carrier.trusted(key) ??
      (key === COMMON ? await carrier.connected(key, undefined, patience.signal) : undefined);
    if (!connection) return undefined;
    const timer = setTimeout(() => patience.abort(new AppError('PROVIDER_UNAVAILABLE', sentence)), ms);
    try {
      return await listTools(
        (method, params) => connection.request(method, params, { signal: patience.signal }),
        (reason) => bounds.note('tools', reason),
      );
    } finally {
      clearTimeout(timer);
      if (patience.aborted) liveness.doubt(connection);
    }
  };
}
