import { createHash } from 'node:crypto';
import { canonicalJson } from '@mcpbridge/shared/canonical-json.js';
import { AppError, messageOf } from '@mcpbridge/shared/errors.js';
import type { JsonObject } from '@mcpbridge/shared/json-rpc.js';
import type { ToolDefinition } from '@mcpbridge/shared/tools.js';
import type { LockFile } from '../config/lock-file.js';
import type { Log } from '../log.js';
import type { LockStore } from '../store/lock-store.js';
import { type Difference, differences } from './tool-differences.js';

/** What a model is told of a tool, and what it goes by. */
const LOCKED = ['name', 'title', 'description', 'inputSchema', 'outputSchema', 'annotations'];

export interface ChangedTool {
  server: string;
  tool: string;
  differences: Difference[];
  /** A person has seen it and said no; it stays held back. */
  blocked?: true;
}

interface Accepted {
  hash: string;
  /** Undefined where only the hash is known, from mcp.lock. */
  definition: JsonObject | undefined;
}

interface LockOptions {
  store: LockStore;
  /** Where there is one, what is not in it is held back, too. */
  file: LockFile | undefined;
  log: Log;
  /** Tools that were held back are not any more. */
  onChange(): void;
}

/**
 * A tool is accepted as it was first listed, or as mcp.lock has it; one that is another later is held back until a
 * person has seen the difference. A server must not be able to tell a model new things under a name that it trusts.
 */
export class ToolLock {
  private admitted = new WeakMap<readonly ToolDefinition[], readonly ToolDefinition[]>();
  private readonly held = new Map<string, Map<string, ToolDefinition>>();

  private constructor(
    private readonly options: LockOptions,
    private readonly accepted: Map<string, Map<string, Accepted>>,
    /** Definitions that a person does not want. */
    private readonly blocked: Set<string>,
  ) {}

  static async open(options: LockOptions): Promise<ToolLock> {
    const { store, file } = options;
    const accepted = new Map<string, Map<string, Accepted>>();
    const put = (server: string, tool: string, entry: Accepted) =>
      accepted.set(server, (accepted.get(server) ?? new Map()).set(tool, entry));
    for (const [server, tools] of Object.entries(file ?? {}))
      for (const [tool, hash] of Object.entries(tools)) put(server, tool, { hash, definition: undefined });
    for (const { server, tool, definition } of await store.all()) {
      const entry = { hash: hashOf(definition), definition };
      const pinned = file && accepted.get(server)?.get(tool);
      if (!file || pinned?.hash === entry.hash) put(server, tool, entry);
    }
    const blocked = (await store.blocked()).map(({ server, hash }) => blockKey(server, hash));
    return new ToolLock(options, accepted, new Set(blocked));
  }

  /** Those of a server's tools that are as they were accepted; ones never seen before are accepted now. */
  admit(server: string, tools: readonly ToolDefinition[]): readonly ToolDefinition[] {
    const known = this.admitted.get(tools);
    if (known) return known;
    const held = this.held.get(server) ?? new Map<string, ToolDefinition>();
    this.held.set(server, held);
    const names = new Set(tools.map(({ name }) => name));
    for (const name of held.keys()) if (!names.has(name)) held.delete(name);
    const admitted = tools.filter((tool) => {
      const isGood = this.isAccepted(server, tool);
      if (isGood) held.delete(tool.name);
      else held.set(tool.name, tool);
      return isGood;
    });
    this.admitted.set(tools, admitted);
    return admitted;
  }

  /** Names of the server's tools that are held back. */
  heldOf(server: string): string[] {
    return [...(this.held.get(server)?.keys() ?? [])];
  }

  /** The tools that are held back, of one server or of all. */
  changed(server?: string): ChangedTool[] {
    const servers = server === undefined ? [...this.held.keys()] : [server];
    return servers.flatMap((id) =>
      [...(this.held.get(id) ?? [])].map(([tool, definition]) => ({
        server: id,
        tool,
        differences: differences(this.accepted.get(id)?.get(tool)?.definition, locked(definition)),
        ...(this.blocked.has(blockKey(id, hashOf(definition))) ? { blocked: true as const } : {}),
      })),
    );
  }

  /** From now on the tool is right as it is now, or all of the server's; @throws NOT_FOUND when none is held back. */
  async accept(server: string, tool?: string): Promise<string[]> {
    const held = this.heldOnes(server, tool);
    for (const definition of held) {
      await this.remember(server, definition);
      const hash = hashOf(definition);
      if (this.blocked.delete(blockKey(server, hash))) await this.options.store.unblock(server, hash);
    }
    this.admitted = new WeakMap();
    this.options.onChange();
    return held.map(({ name }) => name);
  }

  /** The tool stays held back as it is now, and nobody needs to look at it again; @throws NOT_FOUND as `accept`. */
  async block(server: string, tool?: string): Promise<string[]> {
    const held = this.heldOnes(server, tool);
    for (const definition of held) {
      const hash = hashOf(definition);
      this.blocked.add(blockKey(server, hash));
      await this.options.store.block(server, hash);
    }
    return held.map(({ name }) => name);
  }

  private heldOnes(server: string, tool: string | undefined): ToolDefinition[] {
    const all = [...(this.held.get(server)?.values() ?? [])];
    const held = all.filter(({ name }) => tool === undefined || name === tool);
    if (held.length > 0) return held;
    const what = tool === undefined ? 'No tool' : `The tool "${tool}"`;
    throw new AppError(
      'NOT_FOUND',
      `${what} of "${server}" is ${tool === undefined ? '' : 'not '}held back.`,
    );
  }

  private isAccepted(server: string, tool: ToolDefinition): boolean {
    const accepted = this.accepted.get(server)?.get(tool.name);
    if (accepted) return accepted.hash === hashOf(locked(tool));
    if (this.options.file) return false;
    this.remember(server, tool).catch((error) =>
      this.options.log.warn(
        `That "${tool.name}" of "${server}" is accepted was not stored: ${messageOf(error)}`,
      ),
    );
    return true;
  }

  private async remember(server: string, tool: ToolDefinition): Promise<void> {
    const definition = locked(tool);
    const entry = { hash: hashOf(definition), definition };
    this.accepted.set(server, (this.accepted.get(server) ?? new Map()).set(tool.name, entry));
    await this.options.store.put(server, tool.name, definition);
  }
}

/** For mcp.lock: the same for the same words, however their members are ordered. */
export function hashOf(definition: JsonObject): string {
  return createHash('sha256')
    .update(canonicalJson(locked(definition)))
    .digest('base64url');
}

function blockKey(server: string, hash: string): string {
  return `${server} ${hash}`;
}

function locked(definition: JsonObject): JsonObject {
  return Object.fromEntries(LOCKED.flatMap((key) => (key in definition ? [[key, definition[key]]] : [])));
}
