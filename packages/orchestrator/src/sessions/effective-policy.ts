import type { Guard } from '@mcpbridge/shared/folder-guard.js';
import type { CatalogMode, SessionLimits, SessionPolicy } from '@mcpbridge/shared/policy.js';
import { ToolRules } from '../catalog/tool-rules.js';
import { folderGuard, type Guarded } from './folder-guard.js';

/** What a session and all above it allow together. */
export interface EffectivePolicy {
  /** Undefined: everything. */
  rules: ToolRules | undefined;
  limits: SessionLimits;
  catalog: CatalogMode;
  largeResults: 'kept' | 'workspace';
  /** Of its files and commands. */
  guard: Guard;
}

/** Of a result that stays as it is where the policy says that large ones are files, but not what is large. */
const SPILLED_BYTES = 64 * 1024;

/**
 * A child never has more than its parent, nor the topmost more than `rights`, those of its owner: a tool must pass the
 * rules of each, and of limits the least counts.
 */
export function effectivePolicy(sessions: readonly Guarded[], rights?: SessionPolicy): EffectivePolicy {
  const [top] = sessions;
  const guarded = rights && top ? [{ sessionId: top.sessionId, policy: rights }, ...sessions] : sessions;
  const chain = guarded.map(({ policy }) => policy);
  const patterns = chain.flatMap(({ tools }) => (tools ? [tools] : []));
  const limits: SessionLimits = {};
  for (const { limits: own = {} } of chain) {
    for (const key of Object.keys(own) as (keyof SessionLimits)[]) {
      limits[key] = Math.min(own[key] ?? Number.POSITIVE_INFINITY, limits[key] ?? Number.POSITIVE_INFINITY);
    }
  }
  // Where one of them counts images with the rest, so it is.
  if (chain.some(({ limits: own }) => own?.resultBytes !== undefined && own.imageBytes === undefined))
    delete limits.imageBytes;
  const rules = patterns.length > 0 ? new ToolRules(patterns) : undefined;
  const largeResults = chain.findLast((one) => one.largeResults)?.largeResults ?? 'kept';
  if (largeResults === 'workspace') limits.resultBytes ??= SPILLED_BYTES;
  const catalog = chain.findLast((one) => one.catalog)?.catalog ?? 'all';
  return { rules, limits, catalog, largeResults, guard: folderGuard(guarded) };
}
