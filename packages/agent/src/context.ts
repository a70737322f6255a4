import type { Limits } from '@mcpbridge/shared/conversation.js';
import type { JsonObject } from '@mcpbridge/shared/json-rpc.js';
import type { Brain, OfferedTool } from './brains/brain.js';
import type { Patience } from './brains/steady.js';
import { findTools, withinWindow } from './find-tools.js';
import type { Journal } from './journal.js';
import type { LocalTool } from './local-tools.js';
import type { Meter } from './meter.js';
import type { ToolBridge } from './tool-bridge.js';

/** What a loop works with. */
export interface LoopContext {
  journal: Journal;
  /** The one that thinks, then those that stand in for it. */
  brains: readonly Brain[];
  bridge: ToolBridge;
  /** Tools that the agent itself carries out. */
  local: readonly LocalTool[];
  system: string;
  limits: Limits;
  meter: Meter;
  /** Aborted when its time is over: what runs then is ended, and the model answers with what is known. */
  late: AbortSignal;
  /** Calls of one answer are carried out at once. */
  isParallel: boolean;
  /** Ends it where it is. */
  signal: AbortSignal;
  /** Lets the calls that run finish and begins nothing new. */
  pausing: AbortSignal;
  patience?: Patience | undefined;
  output?: JsonObject | undefined;
}

/** How a loop ended: with an answer, or because somebody has to say yes first. */
export type LoopEnd =
  | { state: 'done'; text: string; data?: unknown; stopped?: string }
  | { state: 'waiting'; proposals: string[] };

/** What the model is offered: the agent's own tools, and those of its session as far as they fit into the window. */
export async function offered({
  bridge,
  brains,
  journal,
  local,
  signal,
}: LoopContext): Promise<OfferedTool[]> {
  const window = Math.min(...brains.map((brain) => brain.window));
  const { tools, isPart } = withinWindow(await bridge.offered(signal), window, journal.all);
  const own = isPart ? [...local, findTools(bridge)] : local;
  return [...own.map(({ definition }) => definition), ...tools];
}
