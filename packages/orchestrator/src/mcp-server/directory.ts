import { Cancel } from '@mcpbridge/shared/cancel.js';
import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';
import { exposedName } from '@mcpbridge/shared/tool-names.js';
import type { Catalog } from '../catalog/catalog.js';
import { isRelay, type McpRelay } from '../providers/provider.js';

const MAX_PAGES = 1000;

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

  /** The servers that announce a capability, or have not said yet what they can. */
  servers(capability: string): McpRelay[] {
    return this.catalog
      .allProviders()
      .filter(isRelay)
      .filter((server) => server.about !== undefined && capability in server.about.capabilities);
  }

  /** The entries of all servers; one that fails is left out, its neighbours are not. */
  async list(method: ListMethod): Promise<JsonObject> {
    const { member, capability, key } = LISTS[method];
    const places = new Map<string, Place>();
    const lists = await Promise.all(
      this.servers(capability).map((server) => entriesOf(server, method, member)),
    );
    const all = lists.flat().map(({ server, entry }) => {
      const own = String(entry[key]);
      const shown = method === 'prompts/list' ? exposedName(server.id, own) : own;
      if (!places.has(shown)) places.set(shown, { server, key: own });
      return { ...entry, [key]: shown };
    });
    this.places.set(method, places);
    return { [member]: all };
  }

  /** Whose the name or address is; read anew once when it is not known. */
  async find(method: ListMethod, shown: string): Promise<Place | undefined> {
    const known = this.places.get(method)?.get(shown);
    if (known) return known;
    await this.list(method);
    return this.places.get(method)?.get(shown);
  }
}

async function entriesOf(
  server: McpRelay,
  method: string,
  member: string,
): Promise<{ server: McpRelay; entry: JsonObject }[]> {
  const found: { server: McpRelay; entry: JsonObject }[] = [];
  const { signal } = new Cancel();
  try {
    let cursor: unknown;
    for (let page = 0; page < MAX_PAGES; page++) {
      const result = await server.request(undefined, method, cursor === undefined ? undefined : { cursor }, {
        signal,
      });
      const entries = isObject(result) && Array.isArray(result[member]) ? result[member] : [];
      for (const entry of entries) if (isObject(entry)) found.push({ server, entry });
      const next = isObject(result) ? result.nextCursor : undefined;
      if (typeof next !== 'string' || next === cursor) break;
      cursor = next;
    }
  } catch {
    // Announced and not there, or down: what it did say counts, and its health tells the rest.
  }
  return found;
}
