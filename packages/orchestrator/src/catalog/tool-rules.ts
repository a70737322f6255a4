import { isObject } from '@mcpbridge/shared/json-rpc.js';
import type { ToolPatterns } from '@mcpbridge/shared/policy.js';
import type { CatalogTool } from './view.js';

type RuledTool = Pick<CatalogTool, 'name' | 'provider' | 'definition'>;
type Test = (tool: RuledTool) => boolean;

interface Layer {
  /** Undefined: all. */
  allow: Test | undefined;
  deny: Test;
  approve: Test;
}

/**
 * The one predicate behind list, spec, search and gate. A pattern is a name with `*` for any characters: of the listed
 * name (`github__*`), or with a slash of server and own name (`github/create_*`). `@hint` or `@!hint` after it asks for
 * an annotation as well, with the defaults of the specification; alone it stands for `*@hint`.
 */
export class ToolRules {
  /** Equal rules have equal keys. */
  readonly key: string;
  private readonly layers: Layer[];
  private readonly hasApprovals: boolean;
  private readonly named: ReadonlySet<string>;

  /** Of a session and its parents: a tool must pass every one. */
  constructor(patterns: readonly ToolPatterns[]) {
    this.key = JSON.stringify(patterns);
    this.hasApprovals = patterns.some(({ approve = [] }) => approve.length > 0);
    this.named = new Set(patterns.flatMap(({ allow = [] }) => allow));
    this.layers = patterns.map(({ allow, deny = [], approve = [] }) => ({
      allow: allow && anyOf(allow),
      deny: anyOf(deny),
      approve: anyOf(approve),
    }));
  }

  allows(tool: RuledTool): boolean {
    return this.layers.every(({ allow, deny }) => (allow?.(tool) ?? true) && !deny(tool));
  }

  /** Is the tool allowed by its very name? */
  names(tool: string): boolean {
    return this.named.has(tool);
  }

  /** A person must say yes to each call. */
  needsApproval(tool: RuledTool): boolean {
    return this.hasApprovals && this.layers.some(({ approve }) => approve(tool));
  }
}

function anyOf(patterns: readonly string[]): Test {
  const tests = patterns.map(testOf);
  return (tool) => tests.some((test) => test(tool));
}

function testOf(pattern: string): Test {
  const [glob = '', hint] = pattern.split('@');
  const name = new RegExp(
    `^${(glob || '*').replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*')}$`,
  );
  const named: Test = glob.includes('/')
    ? ({ provider, definition }) => name.test(`${provider.id}/${definition.name}`)
    : (tool) => name.test(tool.name);
  if (hint === undefined) return named;
  const wanted = !hint.startsWith('!');
  const key = wanted ? hint : hint.slice(1);
  return (tool) => named(tool) && hintOf(tool, key) === wanted;
}

/** What a server does not say counts as the specification has it: not read-only, destructive, open to the world. */
const DEFAULTS: Record<string, boolean> = { destructiveHint: true, openWorldHint: true };

function hintOf({ definition }: RuledTool, key: string): boolean {
  const annotations = isObject(definition.annotations) ? definition.annotations : {};
  if (key === 'destructiveHint' && annotations.readOnlyHint === true) return false;
  return typeof annotations[key] === 'boolean' ? annotations[key] : (DEFAULTS[key] ?? false);
}
