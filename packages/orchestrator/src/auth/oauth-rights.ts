import { AppError, messageOf } from '@mcpbridge/shared/errors.js';
import { isObject } from '@mcpbridge/shared/json-rpc.js';
import { policyProperties } from '@mcpbridge/shared/policy.js';
import { compileSchema } from '@mcpbridge/shared/validate.js';
import type { KeyRights } from '../store/key-store.js';
import type { Principal } from './principal.js';

/** What a scope of a token gives. */
export interface ScopeRights extends KeyRights {
  admin?: boolean;
}

export const USUAL_SCOPES: Record<string, ScopeRights> = {
  'mcp:tools': { tools: { allow: ['*'] } },
  'mcp:admin': { admin: true },
};

/** What begins so is the principal of a login service; nobody else's id does. */
const PRINCIPAL = 'oauth:';
/** In the place of a scope, of those whom the operator names. */
const ADMIN = '*admin';

const check = compileSchema({
  type: 'object',
  additionalProperties: {
    type: 'object',
    properties: {
      admin: { type: 'boolean' },
      tools: policyProperties.tools,
      folders: policyProperties.folders,
      network: policyProperties.network,
    },
    additionalProperties: false,
  },
});

/** Of a setting: `{"scope": {"tools": …}}`. @throws CONFIG_INVALID */
export function readScopeRights(text: string): Record<string, ScopeRights> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new AppError('CONFIG_INVALID', `OAUTH_SCOPES is not JSON: ${messageOf(cause)}.`, { cause });
  }
  const faults = check(value);
  if (faults.length === 0 && isObject(value)) return value as Record<string, ScopeRights>;
  throw new AppError(
    'CONFIG_INVALID',
    `OAUTH_SCOPES must be {"scope": {"tools", "folders", "network", "admin"}}: ${faults.join('; ')}.`,
  );
}

/** Who somebody said to be: claims of a token that was checked. */
export interface Holder {
  issuer: string;
  subject: string;
  email?: string | undefined;
  /** Scopes, and values of the claim that counts like one. */
  scopes: readonly string[];
}

/** Makes principals of the holders of tokens. What one may do stands in its id, so that its sessions have it after a restart too. */
export class OAuthRights {
  constructor(
    private readonly scopes: Record<string, ScopeRights>,
    /** Subjects and e-mail addresses. */
    private readonly admins: readonly string[],
    /** The claim whose values count as `claim:value`. */
    private readonly claim?: string,
  ) {}

  /** Scopes that a login service can be asked for; `usual`: less those of admins. */
  names(which: 'all' | 'usual'): string[] {
    return Object.entries(this.scopes)
      .filter(([name]) => this.claim === undefined || !name.startsWith(`${this.claim}:`))
      .filter(([, { admin }]) => which === 'all' || admin !== true)
      .map(([name]) => name);
  }

  /** Undefined for one whose token gives nothing here. */
  principalOf({ issuer, subject, email, scopes }: Holder): Principal | undefined {
    const known = [...new Set(scopes)].filter((scope) => Object.hasOwn(this.scopes, scope)).sort();
    if (this.admins.includes(subject) || (email !== undefined && this.admins.includes(email)))
      known.push(ADMIN);
    if (known.length === 0) return undefined;
    const { host } = new URL(issuer);
    return this.named(
      `${PRINCIPAL}${encodeURIComponent(subject)}@${host}#${known.map(encodeURIComponent).join(' ')}`,
    );
  }

  /** The principal of an id that was made here. */
  named(id: string): Principal {
    const granted = grantedIn(id);
    const isAdmin = granted.some((scope) => scope === ADMIN || this.scopes[scope]?.admin === true);
    return { id, isAdmin, scopes: granted };
  }

  isOurs(principalId: string): boolean {
    return principalId.startsWith(PRINCIPAL);
  }

  /** What its sessions may have at most; undefined: everything. */
  rightsOf(principalId: string): KeyRights | undefined {
    if (this.named(principalId).isAdmin) return undefined;
    const given = grantedIn(principalId).flatMap((scope) => this.scopes[scope] ?? []);
    return given.reduce<KeyRights>((all, { admin: _, ...rights }) => together(all, rights), {
      tools: { allow: [] },
    });
  }
}

function grantedIn(id: string): string[] {
  const [, scopes = ''] = id.split('#');
  return scopes.split(' ').filter(Boolean).map(decodeURIComponent);
}

/** Lists of both, one after the other: several scopes give what each gives. */
function together<T>(one: T, other: T): T {
  if (Array.isArray(one) && Array.isArray(other)) return [...one, ...other] as T;
  if (!isObject(one) || !isObject(other)) return other;
  const keys = new Set([...Object.keys(one), ...Object.keys(other)]);
  return Object.fromEntries(
    [...keys].map((key) => [
      key,
      key in one && key in other ? together(one[key], other[key]) : (one[key] ?? other[key]),
    ]),
  ) as T;
}
