import type { JsonObject } from '@mcpbridge/shared/json-rpc.js';
import { isLoopback } from '@mcpbridge/shared/locate.js';

interface ProtectedResourceOptions {
  issuers: readonly string[];
  /** To ask for at first; and all that there are. */
  scopes: readonly string[];
  allScopes: readonly string[];
  /** Where others reach us; empty: at whatever loopback name they use. */
  publicUrl: string;
  port(): number;
  /** What else tokens may be for. */
  audience: readonly string[];
}

/** What we are to those who bring tokens of a login service: one resource, `<our address>/mcp` (RFC 9728, RFC 8707). */
export class ProtectedResource {
  constructor(private readonly options: ProtectedResourceOptions) {}

  metadata(host: string | undefined): JsonObject {
    const { issuers, scopes } = this.options;
    return {
      resource: `${this.base(host)}/mcp`,
      authorization_servers: [...issuers],
      scopes_supported: [...scopes],
      bearer_methods_supported: ['header'],
      resource_name: 'mcpbridge',
    };
  }

  /** The value of `WWW-Authenticate`. */
  challenge(error: string | undefined, host: string | undefined): string {
    const { scopes, allScopes } = this.options;
    const what = [
      ...(error === undefined ? [] : [`error="${error}"`]),
      `resource_metadata="${this.base(host)}/.well-known/oauth-protected-resource/mcp"`,
      `scope="${(error === 'insufficient_scope' ? allScopes : scopes).join(' ')}"`,
    ];
    return `Bearer ${what.join(', ')}`;
  }

  audiences(): string[] {
    const { publicUrl, audience } = this.options;
    const bases =
      publicUrl === '' ? ['127.0.0.1', 'localhost', '[::1]'].map((name) => this.local(name)) : [publicUrl];
    return [...bases.flatMap((base) => [`${base}/mcp`, base, `${base}/`]), ...audience];
  }

  private base(host = ''): string {
    const { publicUrl } = this.options;
    if (publicUrl !== '') return publicUrl;
    const name = host.replace(/:\d+$/, '').toLowerCase();
    return this.local(isLoopback(name) ? name : '127.0.0.1');
  }

  private local(name: string): string {
    return `http://${name}:${this.options.port()}`;
  }
}
