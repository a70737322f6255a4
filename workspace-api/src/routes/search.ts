import { AppError } from '@mcpbridge/shared/errors.js';
import type { Match } from '../search/match-file.js';
import type { Found } from '../search/tasks.js';
import { count, isOn, required } from './query.js';
import type { WorkspaceCall, WorkspaceReply, WorkspaceRoute } from './route.js';

const MAX_LIMIT = 1000;
const MAX_FILES = 10_000;
const MAX_CONTEXT = 10;
const MAX_DEPTH = 128;

export const searchRoutes: WorkspaceRoute[] = [
  {
    method: 'GET',
    path: '/api/glob',
    summary: 'Files by a pattern of their paths',
    query: {
      pattern: 'As in `src/**/*.ts`, relative to the folder',
      folder: 'Where to look; default: the whole workspace',
      include_dirs: 'true: folders, too',
      max_depth: 'Levels below the folder',
      limit: 'Files of one answer, at most 10000; default 1000',
      offset: 'How many to pass over',
    },
    run: globFiles,
  },
  {
    method: 'GET',
    path: '/api/search',
    summary: 'Lines by text or a regular expression',
    query: {
      query: 'What to look for',
      folder: 'Where to look; default: the whole workspace',
      regex: 'true: the query is a regular expression, as JavaScript has them; default false',
      case: 'sensitive, insensitive (default), or smart: sensitive when the query has a capital',
      glob: 'Which files: `*.ts,!test/**`',
      context: 'Lines shown before and after each, at most 10; default 0',
      limit: 'Lines in all, at most 1000; default 100',
    },
    run: searchLines,
  },
];

async function globFiles({ services, guard, query, signal }: WorkspaceCall): Promise<WorkspaceReply> {
  const pattern = required('pattern', query.pattern);
  const offset = count('offset', query.offset, { fallback: 0, min: 0 });
  const limit = count('limit', query.limit, { fallback: 1000, max: MAX_FILES });
  const folders = isOn(query.include_dirs);
  const maxDepth = count('max_depth', query.max_depth, { fallback: MAX_DEPTH, max: MAX_DEPTH });
  const wanted = { pattern, folders, maxDepth, offset, limit };
  const { found, total } = await services.search.glob(guard, query.folder ?? '', wanted, signal);
  const files = found.map((one) => fileEntry(one, services.root.shown(guard, one.path)));
  return { body: { pattern, files, total, offset, has_more: offset + files.length < total } };
}

async function searchLines({ services, guard, query, signal }: WorkspaceCall): Promise<WorkspaceReply> {
  const wanted = required('query', query.query);
  const request = {
    query: wanted,
    folder: query.folder ?? '',
    regex: isOn(query.regex),
    ignoreCase: ignoresCase(query.case, wanted),
    context: count('context', query.context, { fallback: 0, min: 0, max: MAX_CONTEXT }),
    limit: count('limit', query.limit, { fallback: 100, max: MAX_LIMIT }),
    ...(query.glob ? { globs: query.glob } : {}),
  };
  const { matches, truncated, engine } = await services.search.find(guard, request, signal);
  const results = matches.map((match) => lineEntry(match, services.root.shown(guard, match.path)));
  return { body: { query: wanted, results, total: results.length, truncated, engine } };
}

function ignoresCase(given: string | undefined, query: string): boolean {
  switch (given) {
    case undefined:
    case '':
    case 'insensitive':
      return true;
    case 'sensitive':
      return false;
    case 'smart':
      return query === query.toLowerCase();
    default:
      throw new AppError(
        'INVALID_REQUEST',
        `"case" is "${given}"; it must be sensitive, insensitive or smart.`,
      );
  }
}

function fileEntry({ isFolder, bytes, modified }: Found, filepath: string) {
  const type = isFolder ? 'folder' : 'file';
  return { filepath, type, size: bytes, last_modified: new Date(modified).toISOString() };
}

function lineEntry({ line, column, text: shown, matched, before, after }: Match, filepath: string) {
  const context = before.length + after.length > 0 ? { before, after } : {};
  return { filepath, line_number: line, column, text: shown, matched_text: matched, ...context };
}
