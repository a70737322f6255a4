import { randomBytes } from 'node:crypto';
import { AppError } from '@mcpbridge/shared/errors.js';
import { isLoopback } from '@mcpbridge/shared/locate.js';
import type { ToolDefinition } from '@mcpbridge/shared/tools.js';
import type { SessionToolRow, SessionToolStore } from '../../store/session-tool-store.js';
import type { FunctionProvider, FunctionTool } from '../function-provider.js';
import { callBack } from './callback.js';

const MAX_TOOLS = 1000;

interface CustomToolsOptions {
  provider: FunctionProvider;
  store: SessionToolStore;
  /** Hosts besides the loopback ones that callback addresses may have, lower case. */
  hosts: readonly string[];
  maxBytes: number;
  /** The tools of that session are others now. */
  onChange(sessionId: string): void;
}

/** Tools that a session brings itself: listed and callable in it alone, carried out by a request to their address. */
export class CustomTools {
  private readonly rows = new Map<string, Map<string, SessionToolRow>>();

  constructor(private readonly options: CustomToolsOptions) {}

  /** Those that the session had before a restart. */
  async load(sessionId: string): Promise<void> {
    const rows = await this.options.store.of(sessionId);
    if (rows.length > 0) this.show(sessionId, new Map(rows.map((row) => [row.definition.name, row])));
  }

  /** Answers the secret that signs the requests. @throws INVALID_REQUEST for an address that may not be called. */
  async register(sessionId: string, definition: ToolDefinition, url: string): Promise<string> {
    this.checkAddress(url);
    const rows = new Map(this.rows.get(sessionId));
    if (rows.size >= MAX_TOOLS && !rows.has(definition.name))
      throw new AppError('INVALID_REQUEST', `A session has at most ${MAX_TOOLS} tools of its own.`);
    const row = { definition, url, secret: randomBytes(32).toString('base64url') };
    await this.options.store.put(sessionId, row);
    this.show(sessionId, rows.set(definition.name, row));
    return row.secret;
  }

  async remove(sessionId: string, name: string): Promise<void> {
    const rows = new Map(this.rows.get(sessionId));
    if (!rows.delete(name))
      throw new AppError('UNKNOWN_TOOL', `The session "${sessionId}" has no tool "${name}" of its own.`);
    await this.options.store.remove(sessionId, name);
    this.show(sessionId, rows);
  }

  /** The session has ended. */
  async forget(sessionId: string): Promise<void> {
    if (this.rows.delete(sessionId)) await this.options.store.remove(sessionId);
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
    return { definition: row.definition, run: (call) => callBack(row, call, this.options.maxBytes) };
  }

  private checkAddress(url: string): void {
    const { protocol, hostname } = readUrl(url);
    if (protocol !== 'http:' && protocol !== 'https:')
      throw new AppError('INVALID_REQUEST', `"url" must be an http or https address, not ${url}.`);
    const host = hostname.replace(/^\[|\]$/g, '').toLowerCase();
    if (isLoopback(hostname) || isLoopback(host) || this.options.hosts.includes(host)) return;
    throw new AppError(
      'INVALID_REQUEST',
      `Tools at "${host}" are not called: only loopback addresses are, and the hosts in CALLBACK_HOSTS.`,
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
