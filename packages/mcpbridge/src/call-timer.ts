import { bridgeFailure } from './failure.js';
import type { Stop } from './stop.js';

/** Stops a call that lasts longer than `MCP_TOOL_TIMEOUT`, if there is such a limit; stop it with what comes back. */
export function startCallTimer(stop: Stop, limitMs: number): () => void {
  if (limitMs === 0) return () => {};
  const text = `The call had no answer within ${limitMs / 1000} s (MCP_TOOL_TIMEOUT) and was cancelled.`;
  const timer = setTimeout(() => stop.fire(bridgeFailure('CALL_TIMEOUT', text)), limitMs);
  return () => clearTimeout(timer);
}
