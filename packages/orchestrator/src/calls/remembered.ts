import { createHash } from 'node:crypto';
import { canonicalJson } from '@mcpbridge/shared/canonical-json.js';
import type { JsonObject } from '@mcpbridge/shared/json-rpc.js';
import type { DecisionStore } from '../store/decision-store.js';

/** What a yes is good for beyond the call itself: the same arguments again, or the tool whatever its arguments. */
export type Remember = 'arguments' | 'tool';

interface RememberedCall {
  sessionId: string;
  server: string;
  tool: string;
  arguments: JsonObject;
}

/** Approvals that hold for later calls of their session, until it ends. */
export class Remembered {
  private readonly sessions = new Map<string, Set<string>>();

  private constructor(private readonly store: DecisionStore) {}

  static async open(store: DecisionStore): Promise<Remembered> {
    const remembered = new Remembered(store);
    for (const { sessionId, covers } of await store.remembered()) remembered.hold(sessionId, covers);
    return remembered;
  }

  /** Holds at once; resolves when it would outlive this process. */
  async add(call: RememberedCall, what: Remember): Promise<void> {
    const covers = what === 'tool' ? toolKey(call) : argumentsKey(call);
    this.hold(call.sessionId, covers);
    await this.store.remember(call.sessionId, covers);
  }

  covers(call: RememberedCall): boolean {
    const known = this.sessions.get(call.sessionId);
    return known !== undefined && (known.has(toolKey(call)) || known.has(argumentsKey(call)));
  }

  async forget(sessionId: string): Promise<void> {
    this.sessions.delete(sessionId);
    await this.store.forget(sessionId);
  }

  private hold(sessionId: string, covers: string): void {
    const known = this.sessions.get(sessionId) ?? new Set();
    this.sessions.set(sessionId, known.add(covers));
  }
}

function toolKey({ server, tool }: RememberedCall): string {
  return JSON.stringify([server, tool]);
}

function argumentsKey(call: RememberedCall): string {
  const digest = createHash('sha256').update(canonicalJson(call.arguments)).digest('base64url');
  return JSON.stringify([call.server, call.tool, digest]);
}
