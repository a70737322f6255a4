import type { JsonObject } from '@mcpbridge/shared/json-rpc.js';
import { isOn } from './query.js';
import type { WorkspaceRoute } from './route.js';

const path: JsonObject = { type: 'string', minLength: 1 };

export const folderRoutes: WorkspaceRoute[] = [
  {
    method: 'POST',
    path: '/api/folders',
    summary: 'A new folder, with those on the way to it',
    body: { type: 'object', properties: { folder_path: path }, required: ['folder_path'] },
    async run({ services: { folders }, guard, body }) {
      const folder = String(body.folder_path);
      const created = await folders.make(guard, folder);
      return { status: created ? 201 : 200, body: { folder_path: folder, created } };
    },
  },
  {
    method: 'DELETE',
    path: '/api/folders/{*folder}',
    summary: 'Delete a folder; the versions of its files stay',
    query: { recursive: 'true: with all that is in it; without, an empty one alone' },
    async run({ services: { folders }, guard, params: { folder = '' }, query }) {
      await folders.remove(guard, folder, isOn(query.recursive));
      return { body: { folder_path: folder, deleted: true } };
    },
  },
  ...(['move', 'copy'] as const).map(
    (kind): WorkspaceRoute => ({
      method: 'POST',
      path: `/api/folders/${kind}`,
      summary: kind === 'move' ? 'Give a folder another name, or another folder' : 'Copy a folder',
      body: {
        type: 'object',
        properties: { source_path: path, destination_path: path },
        required: ['source_path', 'destination_path'],
      },
      async run({ services: { folders, root }, guard, body }) {
        const from = String(body.source_path);
        const made = await folders[kind](guard, { from, to: String(body.destination_path) });
        return { body: { folder_path: root.shown(guard, made), source_path: from } };
      },
    }),
  ),
];
