import { AppError } from '@mcpbridge/shared/errors.js';
import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';
import { parseJson, readBody } from '@mcpbridge/shared/read-body.js';
import { type LineWindow, readDocument } from '../files/document.js';
import { type Conditions, etagOf, names } from '../files/etag.js';
import { entryOf } from '../files/file-kind.js';
import type { Written } from '../files/files.js';
import { listTree } from '../files/list-tree.js';
import { sendRaw } from '../files/raw.js';
import { atMost, type Source } from '../files/temporary.js';
import { count, isOn } from './query.js';
import type { WorkspaceCall, WorkspaceReply, WorkspaceRoute } from './route.js';

const MAX_PAGE = 10_000;
const MAX_JSON_BYTES = 24 * 1024 * 1024;

const contentProperties: JsonObject = {
  content: { type: 'string' },
  encoding: { enum: ['utf-8', 'base64'], description: 'Of content; default utf-8' },
};
const createSchema: JsonObject = {
  type: 'object',
  properties: { filepath: { type: 'string', minLength: 1 }, ...contentProperties },
  required: ['filepath'],
};
const transferSchema: JsonObject = {
  type: 'object',
  properties: { destination_path: { type: 'string', minLength: 1 }, overwrite: { type: 'boolean' } },
  required: ['destination_path'],
};

export const documentRoutes: WorkspaceRoute[] = [
  {
    method: 'GET',
    path: '/api/documents',
    summary: 'Files and folders, each folder before what is in it, by pages',
    query: {
      folder: 'where to begin; default: everything',
      max_depth: 'folders below folders; 1: the entries of the folder alone; default: all',
      limit: `1 to ${MAX_PAGE}, default 1000`,
      after: '`next` of the page before',
    },
    async run({ services: { root }, guard, query }) {
      await root.prepare(guard);
      const page = await listTree(root, guard, query.folder ?? '', {
        maxDepth: depth(query.max_depth),
        limit: count('limit', query.limit, { fallback: 1000, max: MAX_PAGE }),
        after: query.after,
      });
      const { entries: documents, next } = page;
      return { body: { documents, ...(next === undefined ? {} : { next }) } };
    },
  },
  {
    method: 'POST',
    path: '/api/documents',
    summary: 'A new file; 409 when there is one',
    body: createSchema,
    async run(call) {
      const { services, guard, body } = call;
      const options = { onlyNew: true };
      return writtenReply(
        call,
        await services.files.write(guard, String(body.filepath), contentOf(body), options),
      );
    },
  },
  {
    method: 'GET',
    path: '/api/documents/{*filepath}/raw',
    summary: 'The bytes of a file, or a part of them by Range',
    query: { download: 'true: as a download' },
    async run(call) {
      const path = call.params.filepath ?? '';
      try {
        return await sendBytes(call, path);
      } catch (thrown) {
        if (call.response.headersSent) throw thrown;
        // In a folder, "raw" may be a file.
        return sendDocument(call, `${path}/raw`).catch(() => {
          throw thrown;
        });
      }
    },
  },
  {
    method: 'GET',
    path: '/api/documents/{*filepath}',
    summary: 'One file with its content: text as it is, all else in base64',
    query: {
      first_line: 'number of the first line that is wanted',
      lines: 'how many lines',
      raw: 'true: the bytes, as with /raw',
      download: 'true: the bytes as a download',
    },
    run: (call) => sendDocument(call, call.params.filepath ?? ''),
  },
  {
    method: 'PUT',
    path: '/api/documents/{*filepath}',
    summary: 'Write a file whole, new or not: {content}, or the bytes as application/octet-stream',
    async run(call) {
      const { services, guard, params, request } = call;
      const source = await sourceOf(call);
      const conditions = conditionsOf(request);
      return writtenReply(call, await services.files.write(guard, params.filepath ?? '', source, conditions));
    },
  },
  {
    method: 'DELETE',
    path: '/api/documents/{*filepath}',
    summary: 'Delete a file; its versions stay',
    async run({ services: { files }, guard, params: { filepath = '' }, request }) {
      await files.remove(guard, filepath, conditionsOf(request));
      return { body: { filepath, deleted: true } };
    },
  },
  {
    method: 'POST',
    path: '/api/documents/{*filepath}/move',
    summary: 'Give a file or folder another name, or another folder',
    body: transferSchema,
    run: (call) => transfer(call, 'move'),
  },
  {
    method: 'POST',
    path: '/api/documents/{*filepath}/copy',
    summary: 'Copy a file or folder',
    body: transferSchema,
    run: (call) => transfer(call, 'copy'),
  },
];

async function sendBytes(
  { services, guard, query, request, response }: WorkspaceCall,
  path: string,
): Promise<undefined> {
  const file = await services.files.open(guard, path);
  await sendRaw(request, response, file, isOn(query.download));
}

async function sendDocument(call: WorkspaceCall, path: string): Promise<WorkspaceReply | undefined> {
  const { services, guard, query, request, response } = call;
  if (isOn(query.raw) || isOn(query.download)) return sendBytes(call, path);
  const lines = linesOf(query);
  const file = await services.files.open(guard, path);
  const etag = etagOf(file.stats);
  const known = request.headers['if-none-match'];
  if (known !== undefined && names(known, etag)) {
    await file.handle.close();
    response.writeHead(304, { etag }).end();
    return undefined;
  }
  const document = await readDocument(file, services.root.shown(guard, file.path), lines);
  return { body: { ...document }, headers: { etag } };
}

async function transfer(call: WorkspaceCall, kind: 'move' | 'copy'): Promise<WorkspaceReply> {
  const { services, guard, params, body } = call;
  const from = params.filepath ?? '';
  const to = String(body.destination_path);
  const path = await services.folders[kind](guard, { from, to, overwrite: body.overwrite === true });
  return {
    body: {
      filepath: services.root.shown(guard, path),
      [kind === 'move' ? 'moved_from' : 'copied_from']: from,
    },
  };
}

/** 201 for a new file, with its tag for the next If-Match. */
export function writtenReply(
  { services, guard }: Pick<WorkspaceCall, 'services' | 'guard'>,
  { path, stats, etag, created }: Written,
): WorkspaceReply {
  const entry = entryOf(services.root.shown(guard, path), stats);
  return { status: created ? 201 : 200, body: { ...entry, etag, created }, headers: { etag } };
}

export function conditionsOf({ headers }: WorkspaceCall['request']): Conditions {
  return { ifMatch: headers['if-match'], ifNoneMatch: headers['if-none-match'] };
}

async function sourceOf({ request, services }: WorkspaceCall): Promise<Source> {
  if (request.headers['content-type']?.startsWith('application/octet-stream'))
    return atMost(services.maxFileBytes, request);
  const body = parseJson(await readBody(request, MAX_JSON_BYTES));
  if (isObject(body) && typeof body.content === 'string') return contentOf(body);
  throw new AppError(
    'INVALID_REQUEST',
    'Send {"content": "…"} with "encoding": "base64" for what is no text, or the bytes as application/octet-stream.',
  );
}

function contentOf({ content, encoding }: JsonObject): Source {
  return [Buffer.from(String(content), encoding === 'base64' ? 'base64' : 'utf8')];
}

function depth(text: string | undefined): number {
  const value = count('max_depth', text, { fallback: -1, min: -1 });
  return value === -1 ? Number.POSITIVE_INFINITY : value;
}

function linesOf({ first_line, lines }: WorkspaceCall['query']): LineWindow | undefined {
  if (first_line === undefined && lines === undefined) return undefined;
  return {
    first: count('first_line', first_line, { fallback: 1 }),
    count: count('lines', lines, { fallback: 2000 }),
  };
}
