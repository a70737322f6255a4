import { AppError } from '@mcpbridge/shared/errors.js';
import { fileType, type Hit } from '../index/indexer.js';
import { count, required } from './query.js';
import type { WorkspaceCall, WorkspaceReply, WorkspaceRoute } from './route.js';

const MAX_LIMIT = 100;
const MAX_CONTENT = 4 * 1024 * 1024;

export const semanticRoutes: WorkspaceRoute[] = [
  {
    method: 'GET',
    path: '/api/search/semantic',
    summary: 'Passages by what they mean',
    query: {
      query: 'What they are about',
      folder: 'Where to look, folders in it, too; default: the whole workspace',
      limit: 'Passages, at most 100; default 10',
    },
    run: searchSemantic,
  },
  {
    method: 'POST',
    path: '/api/search/process-file',
    summary: 'Indexes a file now, or a text where there is no file',
    body: {
      type: 'object',
      properties: {
        file_path: { type: 'string', minLength: 1 },
        content: { type: 'string', maxLength: MAX_CONTENT },
        action: { enum: ['create', 'update', 'delete'] },
      },
      required: ['file_path', 'action'],
      additionalProperties: false,
    },
    run: processFile,
  },
];

async function searchSemantic({ services, guard, query }: WorkspaceCall): Promise<WorkspaceReply> {
  const begun = performance.now();
  const wanted = required('query', query.query);
  const limit = count('limit', query.limit, { fallback: 10, max: MAX_LIMIT });
  const folder = query.folder ?? '';
  const { hits, method, model, note, complete } = await services.index.search(guard, folder, wanted, limit);
  const results = hits.map((hit) => passage(hit, services.root.shown(guard, hit.path), method));
  return {
    body: {
      query: wanted,
      semantic_results: results,
      total_results: results.length,
      search_method: method,
      embedding_model: model ?? null,
      ...(note === undefined ? {} : { note }),
      index_complete: complete,
      processing_time_ms: elapsed(begun),
    },
  };
}

async function processFile({ services, guard, body }: WorkspaceCall): Promise<WorkspaceReply> {
  const begun = performance.now();
  // The route's schema has seen it.
  const { file_path, content, action } = body as { file_path: string; content?: string; action: string };
  if (action === 'delete') {
    await services.index.forget(guard, file_path);
    const done = { chunks_created: 0, embeddings_generated: 0, processing_time_ms: elapsed(begun) };
    return { body: { file_path, action, success: true, ...done } };
  }
  const { chunks, embedded, note, found } = await services.index.process(guard, file_path, content);
  if (!found)
    throw new AppError(
      'NOT_FOUND',
      `There is no file ${JSON.stringify(file_path)}: give its content, or write it.`,
    );
  const done = { chunks_created: chunks, embeddings_generated: embedded, processing_time_ms: elapsed(begun) };
  return { body: { file_path, action, success: true, ...done, ...(note === undefined ? {} : { note }) } };
}

function passage(hit: Hit, file_path: string, search_method: string) {
  const slash = file_path.lastIndexOf('/');
  return {
    file_path,
    folder: slash === -1 ? '' : file_path.slice(0, slash),
    file_type: fileType(file_path),
    chunk_index: hit.number,
    first_line: hit.first_line,
    last_line: hit.last_line,
    chunk_text: hit.text,
    word_count: hit.text.match(/\S+/g)?.length ?? 0,
    char_count: hit.text.length,
    score: Math.round(hit.score * 10_000) / 10_000,
    search_method,
  };
}

function elapsed(begun: number): number {
  return Math.round(performance.now() - begun);
}
