import type { Guard } from '@mcpbridge/shared/folder-guard.js';
import type { Session } from './session.js';
import type { SessionTokens } from './session-tokens.js';

const GOOD_FOR_MS = 24 * 60 * 60_000;
/** One that a command begins with is good for so long at least. */
const LEFT_MS = 12 * 60 * 60_000;

interface Issued {
  token: string;
  renewAt: number;
}

/** What a session's commands call tools with: a token of that session alone. */
export class CommandTokens {
  private readonly issued = new Map<string, Promise<Issued>>();

  constructor(private readonly tokens: SessionTokens) {}

  /** The session's guard as its commands get it. */
  async guardOf(session: Session): Promise<Guard> {
    const { guard } = session.effective;
    if (guard.network === 'none') return guard;
    return { ...guard, env: { ...guard.env, MCP_API_TOKEN: await this.tokenOf(session) } };
  }

  forget(sessionId: string): void {
    this.issued.delete(sessionId);
  }

  private async tokenOf(session: Session): Promise<string> {
    const known = await this.issued.get(session.sessionId);
    // The owner may have revoked it meanwhile, with all others of the session.
    if (known && known.renewAt > Date.now() && this.tokens.find(known.token)) return known.token;
    const issuing = this.issue(session);
    this.issued.set(session.sessionId, issuing);
    issuing.catch(() => this.issued.delete(session.sessionId));
    return (await issuing).token;
  }

  private async issue({ sessionId, owner, expiresAt }: Session): Promise<Issued> {
    const end = Math.min(Date.now() + GOOD_FOR_MS, expiresAt ?? Number.POSITIVE_INFINITY);
    return { token: await this.tokens.issue(sessionId, owner, end), renewAt: end - LEFT_MS };
  }
}
