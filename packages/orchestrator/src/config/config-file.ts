import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';
import {
  findNodeAtLocation,
  getNodeValue,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from 'jsonc-parser';

/** Server definitions as people wrote them, by id. */
export type ServerMap = ReadonlyMap<string, unknown>;

export interface ConfigContent {
  servers: ServerMap;
  /** What is wrong but leaves the servers usable; one sentence each. */
  faults: string[];
}

/** `mcpServers` is the word of Claude, Cursor and most others, `servers` that of VS Code. */
export const SERVER_KEYS = ['mcpServers', 'servers'] as const;

/** Reads JSON with comments and trailing commas. A string says why nothing of the file can be used. */
export function parseConfig(text: string, file: string): ConfigContent | string {
  const errors: ParseError[] = [];
  const json = text.replace(/^\uFEFF/, '');
  if (json.trim() === '') return `"${file}" is empty; write {"mcpServers": {}} at least.`;
  const root = parseTree(json, errors, { allowTrailingComma: true });
  const [error] = errors;
  if (!root || error) {
    const what = error ? wordsOf(printParseErrorCode(error.error)) : 'nothing to read';
    return `"${file}" is not JSON: ${what} at ${position(json, error?.offset ?? 0)}.`;
  }
  // The parser's objects have no prototype, and so never equal those that come over HTTP.
  const content: unknown = JSON.parse(JSON.stringify(getNodeValue(root)));
  if (!isObject(content)) return `"${file}" must hold an object: {"mcpServers": {…}}.`;
  const wrong = SERVER_KEYS.find((key) => content[key] !== undefined && !isObject(content[key]));
  if (wrong) return `"${wrong}" in "${file}" must be an object: {"mcpServers": {"name": {…}}}.`;
  const faults = doubles(json, root, file);
  if (Object.keys(content).length > 0 && !SERVER_KEYS.some((key) => key in content)) {
    faults.push(`"${file}" has no "mcpServers", so no server is read from it.`);
  }
  return { servers: serversOf(content), faults };
}

/** Both words may be there; a name in both is taken from `mcpServers`. */
function serversOf(content: JsonObject): ServerMap {
  const { mcpServers, servers } = content;
  return new Map([
    ...(isObject(servers) ? Object.entries(servers) : []),
    ...(isObject(mcpServers) ? Object.entries(mcpServers) : []),
  ]);
}

function doubles(json: string, root: Node, file: string): string[] {
  const faults: string[] = [];
  for (const key of SERVER_KEYS) {
    const seen = new Set<unknown>();
    for (const property of findNodeAtLocation(root, [key])?.children ?? []) {
      const id: unknown = property.children?.[0]?.value;
      if (seen.has(id)) {
        faults.push(`"${id}" stands twice in "${file}"; that at ${position(json, property.offset)} counts.`);
      }
      seen.add(id);
    }
  }
  return faults;
}

function position(text: string, offset: number): string {
  const lines = text.slice(0, offset).split('\n');
  return `line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}`;
}

/** `CloseBraceExpected` as `close brace expected`. */
function wordsOf(code: string): string {
  return code.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
}
