import type { JsonObject } from '@mcpbridge/shared/json-rpc.js';
import { platformTool } from '@mcpbridge/shared/platform-tools.js';
import { type ToolResult, textResult } from '@mcpbridge/shared/tools.js';
import type { FunctionTool } from '../function-provider.js';
import type { ProviderCall } from '../provider.js';
import { type AskWorkspace, inAddress, queryText, workspaceTool } from './ask-workspace.js';
import { LIST_FILES, READ_FILE, SEARCH_FILES, WRITE_FILE } from './file-tool-definitions.js';

/** What one answer to a model holds, unless it asks for more. */
const LISTED = 500;
const LINES = 2000;
const FOUND = 100;

/** Files for agents that have none of their own, or whose own do not reach the workspace. */
export function fileTools(ask: AskWorkspace): FunctionTool[] {
  return [
    workspaceTool(LIST_FILES, (call) => list(ask, call)),
    workspaceTool(READ_FILE, (call) => read(ask, call)),
    workspaceTool(WRITE_FILE, (call) => write(ask, call)),
    workspaceTool(SEARCH_FILES, (call) => search(ask, call)),
    workspaceTool(platformTool('diff_patch_workspace_file'), (call) => patch(ask, call)),
  ];
}

async function list(ask: AskWorkspace, call: ProviderCall): Promise<ToolResult> {
  const { folder, max_depth, after, pattern, limit = LISTED } = call.args;
  if (pattern !== undefined) {
    const query = queryText({ pattern, folder, max_depth, limit, include_dirs: true });
    const { files, total } = await ask(call, { method: 'GET', path: `/api/glob${query}` });
    const found = files as Entry[];
    const more = Number(total) > found.length ? [`[${total} in all: narrow the pattern]`] : [];
    return textResult([...found.map(line), ...more].join('\n') || 'No file fits.');
  }
  const query = queryText({ folder, max_depth, after, limit });
  const { documents, next } = await ask(call, { method: 'GET', path: `/api/documents${query}` });
  const more = next === undefined ? [] : [`[There is more: after = ${JSON.stringify(next)}]`];
  return textResult([...(documents as Entry[]).map(line), ...more].join('\n') || 'The folder is empty.');
}

interface Entry {
  filepath: string;
  type: string;
  size: number;
}

function line({ filepath, type, size }: Entry): string {
  if (type === 'folder') return `${filepath}/`;
  return type === 'file' ? `${filepath} (${size} bytes)` : `${filepath} (${type})`;
}

async function read(ask: AskWorkspace, call: ProviderCall): Promise<ToolResult> {
  const { filepath, first_line = 1, lines = LINES } = call.args;
  const query = queryText({ first_line, lines });
  const document = await ask(call, { method: 'GET', path: `/api/documents/${inAddress(filepath)}${query}` });
  const { content, mime_type, is_binary, is_image, size, etag, has_more } = document;
  if (is_binary === true) {
    if (is_image === true) return { content: [{ type: 'image', data: content, mimeType: mime_type }] };
    return textResult(`${filepath} is no text: ${size} bytes of ${mime_type}.`);
  }
  const last = Number(first_line) - 1 + String(content).split('\n').length;
  const rest =
    has_more === true ? `lines ${first_line} to ${last}, more with first_line ${last + 1}` : 'to its end';
  const about = `[${filepath}: ${rest}; ${size} bytes; etag ${etag}]`;
  return { content: [content, about].map((text) => ({ type: 'text', text })) };
}

async function write(ask: AskWorkspace, call: ProviderCall): Promise<ToolResult> {
  const { filepath, content, encoding, etag } = call.args;
  const written = await ask(call, {
    method: 'PUT',
    path: `/api/documents/${inAddress(filepath)}`,
    body: { content, ...(encoding === undefined ? {} : { encoding }) },
    ...(etag === undefined ? {} : { headers: { 'if-match': String(etag) } }),
  });
  return textResult(outcome(written));
}

async function patch(ask: AskWorkspace, call: ProviderCall): Promise<ToolResult> {
  const path = `/api/documents/${inAddress(call.args.filepath)}/diff`;
  const patched = await ask(call, { method: 'PATCH', path, body: { diff: call.args.diff } });
  const repairs = patched.repairs as string[];
  const how = repairs.length === 0 ? '' : ` The diff was not exact: ${repairs.join('; ')}.`;
  return textResult(outcome(patched) + how);
}

function outcome({ filepath, created, size, etag }: JsonObject): string {
  return `${filepath} was ${created === true ? 'made' : 'changed'}: ${size} bytes, etag ${etag}.`;
}

async function search(ask: AskWorkspace, call: ProviderCall): Promise<ToolResult> {
  const { case_sensitive, ...args } = call.args;
  const query = queryText({
    limit: FOUND,
    ...args,
    case: case_sensitive === true ? 'sensitive' : undefined,
  });
  const { results, truncated } = await ask(call, { method: 'GET', path: `/api/search${query}` });
  const lines = (results as Found[]).flatMap(shown);
  if (lines.length === 0) return textResult('Nothing was found.');
  return textResult(
    [...lines, ...(truncated === true ? ['[There is more: narrow the search]'] : [])].join('\n'),
  );
}

interface Found {
  filepath: string;
  line_number: number;
  text: string;
  before?: string[];
  after?: string[];
}

/** As grep prints it: a colon behind the number of a line that was found, a dash behind those around it. */
function shown({ filepath, line_number, text, before = [], after = [] }: Found): string[] {
  const around = (lines: string[], first: number) =>
    lines.map((one, index) => `${filepath}-${first + index}- ${one}`);
  return [
    ...around(before, line_number - before.length),
    `${filepath}:${line_number}: ${text}`,
    ...around(after, line_number + 1),
  ];
}
