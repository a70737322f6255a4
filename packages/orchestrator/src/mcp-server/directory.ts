import { Cancel } from '@mcpbridge/shared/cancel.js';
import { AppError } from '@mcpbridge/shared/errors.js';
import { lengthOf } from '@mcpbridge/shared/json-extent.js';
import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';
import { exposedName } from '@mcpbridge/shared/tool-names.js';
import type { Catalog } from '../catalog/catalog.js';
import { isRelay, type McpRelay } from '../providers/provider.js';
import type { Session } from '../sessions/session.js';

/** What is read of one server. */
const MAX_PAGES = 1000;
const MAX_ENTRIES = 10_000;
/** Characters of JSON. */
const MAX_LENGTH = 32 * 1024 * 1024;
const WITHIN_MS = 10_000;

export type ListMethod = 'resources/list' | 'resources/templates/list' | 'prompts/list';

/** In which member of a list's result the entries are, and which capability announces them. */
const LISTS: Record<ListMethod, { member: string; capability: string; key: string }> = {
  'resources/list': { member: 'resources', capability: 'resources', key: 'uri' },
  'resources/templates/list': { member: 'resourceTemplates', capability: 'resources', key: 'uriTemplate' },
  'prompts/list': { member: 'prompts', capability: 'prompts', key: 'name' },
};

export interface Place {
  server: McpRelay;
  /** The server's own name or address of it. */
  key: string;
}

/** The resources and prompts of all servers, and whose each is. */
export class Directory {
  private readonly places = new Map<ListMethod, Map<string, Place>>();

  constructor(private readonly catalog: Catalog) {}

  /** The servers that announce a capability and that the session may use. */
  servers(capability: string, { sessionId }: Session): McpRelay[] {
    return this.announcing(capability).filter((server) => this.catalog.reaches(sessionId, server.id));
  }

  /** The entries of all servers that the session may use; one that fails is left out, its neighbours are not. */
  async list(method: ListMethod, { sessionId }: Session): Promise<JsonObject> {
    const entries = await this.read(method);
    const { member } = LISTS[method];
    return {
      [member]: entries
        .filter(({ server }) => this.catalog.reaches(sessionId, server.id))
        .map(({ entry }) => entry),
    };
  }

  /** Whose the name or address is; read anew once when it is not known. */
  async find(method: ListMethod, shown: string, { sessionId }: Session): Promise<Place | undefined> {
    if (!this.places.get(method)?.has(shown)) await this.read(method);
    const place = this.places.get(method)?.get(shown);
    return place && this.catalog.reaches(sessionId, place.server.id) ? place : undefined;
  }

  private announcing(capability: string): McpRelay[] {
    return this.catalog
      .allProviders()
      .filter(isRelay)
      .filter((server) => server.about !== undefined && capability in server.about.capabilities);
  }

  private async read(method: ListMethod): Promise<{ server: McpRelay; entry: JsonObject }[]> {
    const { member, capability, key } = LISTS[method];
    const places = new Map<string, Place>();
    const lists = await Promise.all(
      this.announcing(capability).map((server) => entriesOf(server, method, member)),
    );
    const all = lists.flat().map(({ server, entry }) => {
      const own = String(entry[key]);
      const shown = method === 'prompts/list' ? exposedName(server.id, own) : own;
      if (!places.has(shown)) places.set(shown, { server, key: own });
      return { server, entry: { ...entry, [key]: shown } };
    });
    this.places.set(method, places);
    return all;
  }
}

async function entriesOf(
  server: McpRelay,
  method: string,
  member: string,
): Promise<{ server: McpRelay; entry: JsonObject }[]> {
  const found: { server: McpRelay; entry: JsonObject }[] = [];
  const patience = new Cancel();
  const timer = setTimeout(
    () => patience.abort(new AppError('CALL_TIMEOUT', `${method} took too long.`)),
    WITHIN_MS,
  );
  try {
    let cursor: unknown;
    let length = 0;
    for (let page = 0; page < MAX_PAGES && found.length < MAX_ENTRIES; page++) {
      const result = await server.request(undefined, method, cursor === undefined ? undefined : { cursor }, {
        signal: patience.signal,
      });
      length += lengthOf(result);
      if (length > MAX_LENGTH) break;
      const entries = isObject(result) && Array.isArray(result[member]) ? result[member] : [];
      const room = MAX_ENTRIES - found.length;
      for (const entry of entries.slice(0, room)) if (isObject(entry)) found.push({ server, entry });
      const next = isObject(result) ? result.nextCursor : undefined;
      if (typeof next !== 'string' || next === cursor) break;
      cursor = next;
    }
  } catch {
    // Announced and not there, or down: what it did say counts, and its health tells the rest.
  } finally {
    clearTimeout(timer);
  }
  return found;
}
