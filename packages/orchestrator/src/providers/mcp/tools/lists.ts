import { lengthOf, MAX_DEPTH } from '@mcpbridge/shared/json-extent.js';
import { isObject, type JsonObject, RPC, RpcFailure } from '@mcpbridge/shared/json-rpc.js';
import type { ToolDefinition } from '@mcpbridge/shared/tools.js';
import type { RejectedTool, ToolList } from '../../provider.js';

/** What is read of one server: what is beyond would only slow every client down. */
const MAX_PAGES = 1000;
const MAX_TOOLS = 10_000;
/** Characters of JSON: of one tool, and of all answers together. */
const MAX_TOOL_LENGTH = 1024 * 1024;
const MAX_LENGTH = 32 * 1024 * 1024;
const MAX_SHOWN = 200;

type Request = (method: string, params?: JsonObject) => Promise<unknown>;

/**
 * Every page of `tools/list`, as the server wrote it. A tool on which clients would choke, taking their whole list
 * down, is set aside with the reason; its neighbours stay. `onCut` hears why a list without end was not read further.
 */
export async function listTools(request: Request, onCut?: (reason: string) => void): Promise<ToolList> {
  const { items, more, fault, isCut } = await readPages(request);
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
  if (fault && isCut) onCut?.(`Of its tools the first ${items.length} are taken: ${fault}.`);
  return { tools: [...tools.values()], rejected, ...(more ? { more } : {}) };
}

interface Pages {
  items: unknown[];
  /** The other members of all answers together; a later page's go before an earlier one's. */
  more?: JsonObject;
  fault?: string;
  /** There is more than is read. */
  isCut?: boolean;
}

async function readPages(request: Request): Promise<Pages> {
  const items: unknown[] = [];
  const pages: Pages = { items };
  const seen = new Set<unknown>();
  let cursor: unknown;
  let length = 0;
  const cut = (what: string) => ({ ...pages, fault: `there are more than ${what}`, isCut: true });
  for (let page = 0; page < MAX_PAGES; page++) {
    const result = await onePage(request, cursor);
    if (!isObject(result) || !Array.isArray(result.tools))
      return { ...pages, fault: 'an answer holds no tools' };
    const { tools, nextCursor, ...more } = result;
    for (const tool of tools) {
      const checked = bounded(tool);
      length += checked.length;
      if (items.length >= MAX_TOOLS) return cut(`${MAX_TOOLS} tools`);
      if (length > MAX_LENGTH) return cut(`${MAX_LENGTH} characters`);
      items.push(checked.item);
    }
    length += lengthOf({ ...more, nextCursor });
    if (length > MAX_LENGTH) return cut(`${MAX_LENGTH} characters`);
    if (Object.keys(more).length > 0) pages.more = { ...pages.more, ...more };
    cursor = nextCursor;
    if (cursor === undefined || cursor === null) return pages;
    if (seen.has(cursor))
      return { ...pages, fault: `the cursor ${short(JSON.stringify(cursor))} came twice` };
    seen.add(cursor);
  }
  return cut(`${MAX_PAGES} pages`);
}

/** The tool, or in its place what is wrong with its size. */
function bounded(tool: unknown): { item: unknown; length: number } {
  const length = lengthOf(tool);
  const name = isObject(tool) && typeof tool.name === 'string' ? short(tool.name) : '(no name)';
  if (length === Number.POSITIVE_INFINITY)
    return { item: new Oversize(name, `it has more than ${MAX_DEPTH} levels`), length: 0 };
  if (length > MAX_TOOL_LENGTH) {
    const reason = `its definition has ${length} characters; at most ${MAX_TOOL_LENGTH} are taken`;
    return { item: new Oversize(name, reason), length: 0 };
  }
  return { item: tool, length };
}

/** Stands in the list for a tool that is not kept. */
class Oversize implements RejectedTool {
  constructor(
    readonly name: string,
    readonly reason: string,
  ) {}
}

/** A copy: a part of a text keeps the whole in memory. */
function short(text: string): string {
  return text.length <= MAX_SHOWN ? text : `${Buffer.from(text.slice(0, MAX_SHOWN)).toString()}…`;
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
  if (item instanceof Oversize) return item;
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
