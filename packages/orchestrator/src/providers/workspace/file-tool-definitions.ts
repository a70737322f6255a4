import type { JsonObject } from '@mcpbridge/shared/json-rpc.js';
import type { ToolDefinition } from '@mcpbridge/shared/tools.js';

const count = (description: string): JsonObject => ({ type: 'integer', minimum: 1, description });
const text = (description: string): JsonObject => ({ type: 'string', description });
const filepath: JsonObject = {
  type: 'string',
  minLength: 1,
  description: 'The file, relative to the workspace.',
};
const folder = text('Folder to begin in, relative to the workspace; default: all of it.');
const readOnly = { readOnlyHint: true, openWorldHint: false };

export const LIST_FILES: ToolDefinition = {
  name: 'list_workspace_files',
  title: 'List files',
  description: 'Lists files and folders of the workspace, or finds files by a pattern of their paths.',
  inputSchema: {
    type: 'object',
    properties: {
      folder,
      pattern: text('Only paths that fit, for example src/**/*.ts.'),
      max_depth: count('Folders below folders; 1: the entries of the folder alone.'),
      limit: count('At most so many; default 500.'),
      after: text('To go on: the path that the last answer named.'),
    },
  },
  annotations: readOnly,
};

export const READ_FILE: ToolDefinition = {
  name: 'read_workspace_file',
  title: 'Read a file',
  description: 'Reads a text file of the workspace, or some of its lines; of an image it shows the picture.',
  inputSchema: {
    type: 'object',
    properties: {
      filepath,
      first_line: count('Number of the first line; default 1.'),
      lines: count('How many lines; default 2000.'),
    },
    required: ['filepath'],
  },
  annotations: readOnly,
};

export const WRITE_FILE: ToolDefinition = {
  name: 'write_workspace_file',
  title: 'Write a file',
  description:
    'Writes a whole file of the workspace, new or not; what was there is kept as a version. To change parts of a file use diff_patch_workspace_file.',
  inputSchema: {
    type: 'object',
    properties: {
      filepath,
      content: text('The whole content.'),
      encoding: { enum: ['utf-8', 'base64'], description: 'Of content; default utf-8.' },
      etag: text('Write only if the file still has this etag, which reading it told.'),
    },
    required: ['filepath', 'content'],
  },
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
};

export const SEARCH_FILES: ToolDefinition = {
  name: 'search_workspace_files',
  title: 'Search in files',
  description: 'Finds lines in the files of the workspace by text or a regular expression.',
  inputSchema: {
    type: 'object',
    properties: {
      query: { type: 'string', minLength: 1, description: 'What to look for.' },
      folder,
      regex: { type: 'boolean', description: 'The query is a regular expression; default false.' },
      case_sensitive: { type: 'boolean', description: 'Default false.' },
      glob: text('Which files, for example *.ts,!test/**.'),
      context: { type: 'integer', minimum: 0, maximum: 10, description: 'Lines before and after each.' },
      limit: count('At most so many lines; default 100.'),
    },
    required: ['query'],
  },
  annotations: readOnly,
};
