import { createHash, randomBytes } from 'node:crypto';
import { AppError } from '@mcpbridge/shared/errors.js';
import type { JsonObject } from '@mcpbridge/shared/json-rpc.js';
import { nearestHint } from '@mcpbridge/shared/tool-names.js';
import type { ToolResult } from '@mcpbridge/shared/tools.js';
import { addressOf, type SessionTool } from './session-tool.js';

/** A session as the executor serves it: its tools, its token, its running calls. */
export class ServedSession {
  readonly token = randomBytes(32).toString('base64url');
  /** By this it is found, so that no comparison takes longer for a token that is nearly right. */
  readonly tokenHash = hashOf(this.token);
  private readonly byAddress: ReadonlyMap<string, SessionTool>;
  private readonly running = new Set<AbortController>();

  constructor(
    readonly id: string,
    readonly tools: readonly SessionTool[],
  ) {
    this.byAddress = new Map(tools.map((tool) => [addressOf(tool), tool]));
  }

  /**
   * Ends with the caller and with the session, also when the handler does not heed its signal.
   * @throws UNKNOWN_TOOL, INVALID_ARGUMENTS, CALL_CANCELLED
   */
  async call(address: string, args: JsonObject, abort: AbortController): Promise<ToolResult> {
    const tool = this.byAddress.get(address);
    if (!tool) throw this.unknown(address);
    const { signal } = abort;
    this.running.add(abort);
    const cancelled = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
    try {
      return await Promise.race([tool.run(args, { signal, sessionId: this.id }), cancelled]);
    } finally {
      this.running.delete(abort);
    }
  }

  end(): void {
    const reason = new AppError('CALL_CANCELLED', `The session "${this.id}" was closed.`);
    for (const abort of this.running) abort.abort(reason);
  }

  private unknown(address: string): AppError {
    const name = decodeURIComponent(address.slice(address.lastIndexOf('/') + 1));
    const known = this.tools.map((tool) => tool.definition.name);
    return new AppError('UNKNOWN_TOOL', `There is no tool "${name}" here.${nearestHint(name, known)}`);
  }
}

export function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('base64');
}
