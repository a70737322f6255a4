import { isObject, type JsonObject, RPC, RpcFailure } from '@mcpbridge/shared/json-rpc.js';
import { LATEST_LEGACY } from '@mcpbridge/shared/protocol.js';
import { SERVER_INFO } from './version.js';

/** A way to an MCP server, for one examination. */
export interface Road {
  /** Rejects with the server's RpcFailure, or when there is no answer. */
  ask(method: string, params?: JsonObject): Promise<JsonObject>;
  tell(method: string): Promise<void>;
  close(): Promise<void>;
}

export type ListName = 'tools' | 'resources' | 'resourceTemplates' | 'prompts';

/** What a server says of itself and offers, seen at the end of one road. */
export interface ServerView {
  /** The result of initialize. */
  about: JsonObject;
  /** Every page of each list, as it came. */
  lists: Record<ListName, JsonObject[]>;
}

interface ListFacts {
  name: ListName;
  /** For people. */
  words: string;
  method: string;
  capability: string;
  /** By what an entry is known. */
  key: string;
}

export const LISTS: readonly ListFacts[] = [
  { name: 'tools', words: 'tools', method: 'tools/list', capability: 'tools', key: 'name' },
  { name: 'resources', words: 'resources', method: 'resources/list', capability: 'resources', key: 'uri' },
  {
    name: 'resourceTemplates',
    words: 'resource templates',
    method: 'resources/templates/list',
    capability: 'resources',
    key: 'uriTemplate',
  },
  { name: 'prompts', words: 'prompts', method: 'prompts/list', capability: 'prompts', key: 'name' },
];

const MOST_PAGES = 1000;
/** All that a client could say that it can do, so that a server shows what it shows to such a client. */
const CAPABILITIES = { roots: { listChanged: true }, sampling: {}, elicitation: { form: {}, url: {} } };

export async function readView(road: Road): Promise<ServerView> {
  const hello = { protocolVersion: LATEST_LEGACY, capabilities: CAPABILITIES, clientInfo: SERVER_INFO };
  const about = await road.ask('initialize', hello);
  await road.tell('notifications/initialized');
  const capabilities = isObject(about.capabilities) ? about.capabilities : {};
  const lists: ServerView['lists'] = { tools: [], resources: [], resourceTemplates: [], prompts: [] };
  for (const { name, method, capability } of LISTS) {
    if (capability in capabilities) lists[name] = await readPages(road, name, method);
  }
  return { about, lists };
}

async function readPages(road: Road, name: ListName, method: string): Promise<JsonObject[]> {
  const items: JsonObject[] = [];
  let cursor: unknown;
  for (let page = 0; page < MOST_PAGES; page++) {
    const result = await askForPage(road, method, cursor);
    const entries = result[name];
    if (Array.isArray(entries)) items.push(...entries.filter(isObject));
    if (result.nextCursor === undefined || result.nextCursor === cursor) break;
    cursor = result.nextCursor;
  }
  return items;
}

async function askForPage(road: Road, method: string, cursor: unknown): Promise<JsonObject> {
  try {
    return await road.ask(method, cursor === undefined ? undefined : { cursor });
  } catch (error) {
    // Many servers announce resources and know no templates.
    if (error instanceof RpcFailure && error.code === RPC.methodNotFound) return {};
    throw error;
  }
}
