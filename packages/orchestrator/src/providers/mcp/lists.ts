import { isObject, type JsonObject, RPC, RpcFailure } from '@mcpbridge/shared/json-rpc.js';
import type { ToolDefinition } from '@mcpbridge/shared/tools.js';
import type { RejectedTool, ToolList } from '../provider.js';

const MAX_PAGES = 1000;

type Request = (method: string, params?: JsonObject) => Promise<unknown>;

/**
 * Every page of `tools/list`, as the server wrote it. A tool on which clients would choke, taking their whole list
 * down, is set aside with the reason; its neighbours stay.
 */
export async function listTools(request: Request): Promise<ToolList> {
  const { items, more, fault } = await readPages(request);
  const tools = new Map<string, ToolDefinition>();
  const rejected: RejectedTool[] = [];
  for (const item of items) {
    const checked = checkTool(item);
    if (isRejected(checked)) rejected.push(checked);
    else if (tools.has(checked.name))
      rejected.push({ name: checked.name, reason: 'the name is listed twice' });
    else tools.set(checked.name, checked);
  }
  if (fault) rejected.push({ name: 'tools/list', reason: fault });
  return { tools: [...tools.values()], rejected, ...(more ? { more } : {}) };
}

interface Pages {
  items: unknown[];
  /** The other members of all answers together; a later page's go before an earlier one's. */
  more?: JsonObject;
  fault?: string;
}

async function readPages(request: Request): Promise<Pages> {
  const items: unknown[] = [];
  const pages: Pages = { items };
  const seen = new Set<unknown>();
  let cursor: unknown;
  for (let page = 0; page < MAX_PAGES; page++) {
    const result = await onePage(request, cursor);
    if (!isObject(result) || !Array.isArray(result.tools))
      return { ...pages, fault: 'an answer holds no tools' };
    const { tools, nextCursor, ...more } = result;
    items.push(...tools);
    if (Object.keys(more).length > 0) pages.more = { ...pages.more, ...more };
    cursor = nextCursor;
    if (cursor === undefined || cursor === null) return pages;
    if (seen.has(cursor)) return { ...pages, fault: `the cursor ${JSON.stringify(cursor)} came twice` };
    seen.add(cursor);
  }
  return { ...pages, fault: `there are more than ${MAX_PAGES} pages` };
}

async function onePage(request: Request, cursor: unknown): Promise<unknown> {
  try {
    return await request('tools/list', cursor === undefined ? undefined : { cursor });
  } catch (error) {
    // Some servers declare tools and have none.
    if (error instanceof RpcFailure && error.code === RPC.methodNotFound && cursor === undefined) {
      return { tools: [] };
    }
    throw error;
  }
}

function isRejected(checked: ToolDefinition | RejectedTool): checked is RejectedTool {
  return !('inputSchema' in checked);
}

/** Optional fields whose wrong type makes an SDK client refuse the whole list. */
const OPTIONAL: [field: string, fits: (value: unknown) => boolean, what: string][] = [
  ['title', isText, 'text'],
  ['description', isText, 'text'],
  ['outputSchema', isObject, 'an object'],
  ['annotations', isObject, 'an object'],
  ['_meta', isObject, 'an object'],
  ['icons', Array.isArray, 'an array'],
];

function checkTool(item: unknown): ToolDefinition | RejectedTool {
  if (!isObject(item)) return { name: '(no name)', reason: 'it is not an object' };
  const { name, inputSchema } = item;
  if (typeof name !== 'string' || name === '') return { name: '(no name)', reason: 'it has no name' };
  if (!isObject(inputSchema)) return { name, reason: 'its inputSchema is not an object' };
  const fault = schemaFault(inputSchema) ?? optionalFault(item);
  if (fault !== undefined) return { name, reason: fault };
  // The protocol knows no other type here, but clients insist that it is written.
  const schema = inputSchema.type === undefined ? { type: 'object', ...inputSchema } : inputSchema;
  return { ...item, name, inputSchema: schema };
}

function schemaFault({ type, properties, required }: JsonObject): string | undefined {
  if (type !== undefined && type !== 'object') return `its inputSchema is of type ${JSON.stringify(type)}`;
  if (properties !== undefined && !(isObject(properties) && Object.values(properties).every(isObject))) {
    return 'the properties of its inputSchema are not schemas';
  }
  if (required !== undefined && !(Array.isArray(required) && required.every(isText))) {
    return 'the "required" of its inputSchema is not a list of names';
  }
  return undefined;
}

function optionalFault(item: JsonObject): string | undefined {
  for (const [field, fits, what] of OPTIONAL) {
    if (item[field] !== undefined && !fits(item[field])) return `its ${field} is not ${what}`;
  }
  return undefined;
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}
