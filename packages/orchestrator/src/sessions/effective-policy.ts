import type { SessionLimits, SessionPolicy } from '@mcpbridge/shared/policy.js';
import { ToolRules } from '../catalog/tool-rules.js';

/** What a session and all above it allow together. */
export interface EffectivePolicy {
  /** Undefined: everything. */
  rules: ToolRules | undefined;
  limits: SessionLimits;
  catalog: 'all' | 'search';
}

/** A child never has more than its parent: a tool must pass the rules of each, and of limits the least counts. */
export function effectivePolicy(chain: readonly SessionPolicy[]): EffectivePolicy {
  const patterns = chain.flatMap(({ tools }) => (tools ? [tools] : []));
  const limits: SessionLimits = {};
  for (const { limits: own = {} } of chain) {
    for (const key of Object.keys(own) as (keyof SessionLimits)[]) {
      limits[key] = Math.min(own[key] ?? Number.POSITIVE_INFINITY, limits[key] ?? Number.POSITIVE_INFINITY);
    }
  }
  const rules = patterns.length > 0 ? new ToolRules(patterns) : undefined;
  return { rules, limits, catalog: chain.findLast(({ catalog }) => catalog)?.catalog ?? 'all' };
}
