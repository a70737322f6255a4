import { withHash } from '@mcpbridge/shared/tool-names.js';
import type { NameRules } from './dialect.js';

/**
 * For each name, in order, the one that the client is given: the same where it fits, else shortened and with a hash. No
 * two are alike, and none is another's real name, so that a client which knows a real one means that one by it.
 */
export function fittingNames(names: readonly string[], rules: NameRules): string[] {
  const taken = new Set(names);
  const twice = alike(names, rules);
  return names.map((name) => {
    if (fits(name, rules) && !twice.has(name)) return name;
    const letters = blur(name.replace(rules.foreign, '_'), rules);
    const start = /^[A-Za-z_]/.test(letters) ? letters : `_${letters}`;
    let given = withHash(start, '', name, rules.longest);
    for (let more = 1; taken.has(given); more++) given = withHash(start, String(more), name, rules.longest);
    taken.add(given);
    return given;
  });
}

const blur = (name: string, { blurred }: NameRules) => (blurred ? name.replace(blurred, '_') : name);

/** Names that the client would take for another's. */
function alike(names: readonly string[], rules: NameRules): ReadonlySet<string> {
  const blurred = names
    .map((name) => [name, blur(name, rules)] as const)
    .filter(([name, seen]) => seen !== name);
  const seen = new Map<string, number>();
  for (const [, form] of blurred) seen.set(form, (seen.get(form) ?? 0) + 1);
  const known = new Set(names);
  return new Set(
    blurred.filter(([, form]) => known.has(form) || (seen.get(form) ?? 0) > 1).map(([name]) => name),
  );
}

function fits(name: string, { longest, foreign }: NameRules): boolean {
  return name.length <= longest && /^[A-Za-z_]/.test(name) && name.search(foreign) === -1;
}
