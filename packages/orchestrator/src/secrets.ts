import { type Hide, secretHider } from '@mcpbridge/shared/secrets.js';

const KEPT_TOKENS = 12;

/** All that must be shown nowhere, and the one function that blanks it. */
export class Secrets {
  hide: Hide = secretHider();
  /** For the life of the process: what was replaced may still be said by a server that has it. */
  private readonly lasting = new Set<string>();
  /** Those of each session, as long as it is open. */
  private readonly bySession = new Map<string, readonly string[]>();
  /** The latest tokens of each account at a server. */
  private readonly byAccount = new Map<string, readonly string[]>();
  private known = new Set<string>();

  /** `tell` hears of all whenever there are others. */
  constructor(private readonly tell: (known: string[]) => void) {}

  learn(values: Iterable<string>): void {
    for (const value of values) this.lasting.add(value);
    this.apply();
  }

  ofSession(sessionId: string, values: Iterable<string>): void {
    const own = [...values];
    if (own.length > 0) this.bySession.set(sessionId, own);
    else if (!this.bySession.delete(sessionId)) return;
    this.apply();
  }

  /** Tokens of an account; those before them are still good for a while, or in what is being written. */
  ofAccount(account: string, values: readonly string[]): void {
    const before = this.byAccount.get(account) ?? [];
    const fresh = values.filter((value) => !before.includes(value));
    if (fresh.length === 0) return;
    this.byAccount.set(account, [...before, ...fresh].slice(-KEPT_TOKENS));
    this.apply();
  }

  private apply(): void {
    const others = [...this.bySession.values(), ...this.byAccount.values()];
    const known = new Set([...this.lasting, ...others.flat()]);
    if (known.size === this.known.size && [...known].every((value) => this.known.has(value))) return;
    this.known = known;
    this.hide = secretHider(known);
    this.tell([...known]);
  }
}
