import type { ListedTool } from '../calls/use-tool-of';

const DEFAULTS: Record<string, boolean> = { destructiveHint: true, openWorldHint: true };

function hintOf({ annotations = {} }: ListedTool, key: string): boolean {
  if (key === 'destructiveHint' && annotations.readOnlyHint === true) return false;
  const said = annotations[key];
  return typeof said === 'boolean' ? said : (DEFAULTS[key] ?? false);
}

/** Does a pattern of a policy fit a tool? As the orchestrator reads them (docs/api.md, sessions); it alone decides. */
export function fitsPattern(pattern: string, tool: ListedTool): boolean {
  const [glob = '', hint] = pattern.split('@');
  const name = new RegExp(
    `^${(glob || '*').replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*')}$`,
  );
  const own = tool.name.startsWith(`${tool.server}__`) ? tool.name.slice(tool.server.length + 2) : tool.name;
  if (!name.test(glob.includes('/') ? `${tool.server}/${own}` : tool.name)) return false;
  if (hint === undefined) return true;
  return hint.startsWith('!') ? !hintOf(tool, hint.slice(1)) : hintOf(tool, hint);
}

export type Standing = { is: 'allowed' | 'needs approval' | 'denied'; by: string };

/** What a policy says of a tool, and the pattern that says so. */
export function standing(policy: Policy | undefined, tool: ListedTool): Standing {
  const { allow, deny = [], approve = [] } = policy?.tools ?? {};
  const denied = deny.find((pattern) => fitsPattern(pattern, tool));
  if (denied) return { is: 'denied', by: `deny ${denied}` };
  const allowed = allow?.find((pattern) => fitsPattern(pattern, tool));
  if (allow && !allowed) return { is: 'denied', by: 'no pattern of allow' };
  const approved = approve.find((pattern) => fitsPattern(pattern, tool));
  if (approved) return { is: 'needs approval', by: `approve ${approved}` };
  return { is: 'allowed', by: allowed ? `allow ${allowed}` : 'no policy' };
}

export interface Policy {
  tools?: { allow?: string[]; deny?: string[]; approve?: string[] };
  limits?: Record<string, number>;
  catalog?: string;
  [member: string]: unknown;
}
