import { randomBytes } from 'node:crypto';
import { AppError } from '@mcpbridge/shared/errors.js';
import { isLoopback } from '@mcpbridge/shared/locate.js';
import type { ToolDefinition } from '@mcpbridge/shared/tools.js';
import type { Outgoing } from '../../outgoing/outgoing.js';
import type { SessionToolRow, SessionToolStore } from '../../store/session-tool-store.js';
import type { FunctionProvider, FunctionTool } from '../function-provider.js';
import { callBack } from './callback.js';

const MAX_TOOLS = 1000;

interface CustomToolsOptions {
  provider: FunctionProvider;
  store: SessionToolStore;
  /** Hosts besides the loopback ones that callback addresses may have, lower case. */
  hosts: readonly string[];
  /** At which the bearer of a session's token may have its tools called, from and to; undefined: at any. */
  ports: readonly [number, number][] | undefined;
  maxBytes: number;
  /** The tools of that session are others now. */
  onChange(sessionId: string): void;
}

/** Tools that a session brings itself: listed and callable in it alone, carried out by a request to their address. */
export class CustomTools {
  private readonly rows = new Map<string, Map<string, SessionToolRow>>();
  private outgoing: Promise<Outgoing> | undefined;

  constructor(private readonly options: CustomToolsOptions) {}

  /** Those that the session had before a restart. */
  async load(sessionId: string): Promise<void> {
    const rows = await this.options.store.of(sessionId);
    if (rows.length > 0) this.show(sessionId, new Map(rows.map((row) => [row.definition.name, row])));
  }

  /**
   * Answers the secret that signs the requests. `isOwner`: it comes from the owner, not from the bearer of the session's token.
   * @throws INVALID_REQUEST for an address that may not be called.
   */
  async register(
    sessionId: string,
    definition: ToolDefinition,
    url: string,
    isOwner: boolean,
  ): Promise<string> {
    this.checkAddress(url);
    if (!isOwner) this.checkPort(url);
    const before = this.rows.get(sessionId)?.get(definition.name);
    if (!before && (this.rows.get(sessionId)?.size ?? 0) >= MAX_TOOLS)
      throw new AppError('INVALID_REQUEST', `A session has at most ${MAX_TOOLS} tools of its own.`);
    const row = { definition, url, secret: randomBytes(32).toString('base64url') };
    // Before the store, so that of registrations at once each sees what the others have added.
    this.put(sessionId, definition.name, row);
    try {
      await this.options.store.put(sessionId, row);
    } catch (error) {
      this.put(sessionId, definition.name, before);
      throw error;
    }
    return row.secret;
  }

  async remove(sessionId: string, name: string): Promise<void> {
    if (!this.rows.get(sessionId)?.has(name))
      throw new AppError('UNKNOWN_TOOL', `The session "${sessionId}" has no tool "${name}" of its own.`);
    this.put(sessionId, name, undefined);
    await this.options.store.remove(sessionId, name);
  }

  async close(): Promise<void> {
    await (await this.outgoing)?.close();
  }

  /** The session has ended; it may have been open in an earlier process alone. */
  async forget(sessionId: string): Promise<void> {
    this.rows.delete(sessionId);
    await this.options.store.remove(sessionId);
  }

  private put(sessionId: string, name: string, row: SessionToolRow | undefined): void {
    const rows = new Map(this.rows.get(sessionId));
    if (row) rows.set(name, row);
    else rows.delete(name);
    this.show(sessionId, rows);
  }

  private show(sessionId: string, rows: Map<string, SessionToolRow>): void {
    this.rows.set(sessionId, rows);
    this.options.provider.setOwn(
      sessionId,
      [...rows.values()].map((row) => this.toolOf(row)),
    );
    this.options.onChange(sessionId);
  }

  private toolOf(row: SessionToolRow): FunctionTool {
    return {
      definition: row.definition,
      run: async (call) => {
        // It may have been registered when more hosts were listed.
        this.checkAddress(row.url);
        this.outgoing ??= this.open();
        return callBack(row, call, this.options.maxBytes, await this.outgoing);
      },
    };
  }

  /** Loaded only when a tool is called, since a start without one is faster so. */
  private async open(): Promise<Outgoing> {
    const { openOutgoing } = await import('../../outgoing/outgoing.js');
    return openOutgoing({
      who: "A session's own tool",
      mayBePrivate: (host) => this.isListed(host),
      remedy: 'list its host in CALLBACK_HOSTS if that is meant.',
    });
  }

  private isListed(host: string): boolean {
    return isLoopback(host) || this.options.hosts.includes(host);
  }

  private checkAddress(url: string): void {
    const { protocol, hostname } = readUrl(url);
    if (protocol !== 'http:' && protocol !== 'https:')
      throw new AppError('INVALID_REQUEST', `"url" must be an http or https address, not ${url}.`);
    const host = hostname.replace(/^\[|\]$/g, '').toLowerCase();
    if (this.isListed(host)) return;
    throw new AppError(
      'INVALID_REQUEST',
      `Tools at "${host}" are not called: only loopback addresses are, and the hosts in CALLBACK_HOSTS.`,
    );
  }

  /** An agent that cannot reach this machine's services itself shall not reach them through us. */
  private checkPort(url: string): void {
    const { ports } = this.options;
    const { protocol, port } = readUrl(url);
    const number = port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
    if (!ports || ports.some(([from, to]) => from <= number && number <= to)) return;
    throw new AppError(
      'INVALID_REQUEST',
      `With the token of a session, tools at port ${number} are not registered: CALLBACK_PORTS does not list it.`,
    );
  }
}

function readUrl(url: string): URL {
  try {
    return new URL(url);
  } catch {
    throw new AppError('INVALID_REQUEST', `"url" is not an address: ${url}.`);
  }
}
