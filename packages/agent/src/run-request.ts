import type { Limits, Run, StrategyName } from '@mcpbridge/shared/conversation.js';
import { AppError } from '@mcpbridge/shared/errors.js';
import type { JsonObject } from '@mcpbridge/shared/json-rpc.js';
import { NO_USAGE } from './brains/brain.js';
import type { BrainFactory, BrainOptions } from './brains/factory.js';
import { DEFAULT_LIMITS } from './limits.js';
import { filledIn, type Mission } from './missions.js';
import { narrower } from './prefixes.js';
import { routeOf } from './strategies/route.js';

export interface ChatRequest {
  message: string;
  conversationId?: string;
  /** The entry after which it goes on, for a branch; absent: at the newest end. */
  after?: number;
  backend?: string;
  mission?: string;
  inputs?: JsonObject;
  strategy?: StrategyName | 'auto';
  /** Less than the mission allows. From a person alone, never from a model. */
  allowedPrefixes?: string[];
  limits?: Partial<Limits>;
}

/** What request and mission say together; everything that a run needs later stands in it. @throws CONFIG_INVALID, INVALID_ARGUMENTS */
export function runOf(
  request: ChatRequest,
  mission: Mission | undefined,
  brains: BrainFactory,
): Omit<Run, 'id' | 'conversationId' | 'agentSession'> {
  const { message, backend, inputs, strategy = mission?.strategy } = request;
  const fallbacks = backend === undefined ? mission?.fallbacks : undefined;
  const allowedPrefixes = narrower(mission?.allowedPrefixes, request.allowedPrefixes);
  const instructions = mission && filledIn(mission, inputs);
  const brainOptions = { ...mission?.brainOptions };
  const limits = { ...DEFAULT_LIMITS, ...mission?.limits, ...request.limits };
  const names = brains.namesOf(backend ?? mission?.brain, fallbacks);
  if (limits.cost !== undefined) requirePrices(names, brains, brainOptions);
  return {
    state: 'running',
    message,
    brains: names,
    ...(strategy && strategy !== 'auto' ? { strategy, because: 'it was asked for' } : routeOf(message)),
    ...(instructions ? { instructions } : {}),
    ...(allowedPrefixes ? { allowedPrefixes } : {}),
    ...(mission?.approve ? { approve: mission.approve } : {}),
    ...(mission?.output ? { output: mission.output } : {}),
    ...(mission?.canDelegate ? { canDelegate: true } : {}),
    ...(Object.keys(brainOptions).length > 0 ? { brainOptions } : {}),
    limits,
    startedAt: Date.now(),
    usage: NO_USAGE,
  };
}

/** Without prices nobody could say when a limit of costs is reached; of those that stand in as of the first. */
function requirePrices(names: readonly string[], brains: BrainFactory, options: BrainOptions): void {
  for (const [index, name] of names.entries()) {
    if (brains.make(name, index === 0 ? options : {}).price) continue;
    const sentence = `A limit of costs needs the prices of "${name}": set AGENT_PRICES${index === 0 ? ', or "price" in a mission' : ''}.`;
    throw new AppError('CONFIG_INVALID', sentence);
  }
}
