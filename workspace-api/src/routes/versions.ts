import type { JsonObject } from '@mcpbridge/shared/json-rpc.js';
import { readDocument } from '../files/document.js';
import { etagOf } from '../files/etag.js';
import { sendRaw } from '../files/raw.js';
import { chunksOf } from '../files/temporary.js';
import { conditionsOf, writtenReply } from './documents.js';
import { count, isOn } from './query.js';
import type { WorkspaceRoute } from './route.js';

const restoreSchema: JsonObject = {
  type: 'object',
  properties: { version: { type: 'string' } },
  required: ['version'],
};

export const versionRoutes: WorkspaceRoute[] = [
  {
    method: 'GET',
    path: '/api/versions/{*filepath}',
    summary: 'What a file was before it was written again or deleted, newest first; or one of these',
    query: {
      limit: 'at most so many; default all that are kept',
      version: 'the content of this one',
      raw: 'true: with `version`, its bytes',
    },
    async run({ services: { root, versions }, guard, params, query, request, response }) {
      const { filepath = '' } = params;
      const path = await root.pathOf(guard, filepath, 'read');
      const shown = root.shown(guard, path);
      if (query.version !== undefined) {
        const file = await versions.open(path, query.version, filepath);
        if (!isOn(query.raw))
          return { body: { version: query.version, ...(await readDocument(file, shown)) } };
        await sendRaw(request, response, file, false);
        return undefined;
      }
      const limit = count('limit', query.limit, { fallback: 1000 });
      return { body: { filepath: shown, versions: (await versions.list(path)).slice(0, limit) } };
    },
  },
  {
    method: 'POST',
    path: '/api/restore/{*filepath}',
    summary: 'Write a version as the file; what it was until then becomes a version itself',
    body: restoreSchema,
    async run(call) {
      const { services, guard, params, body, request } = call;
      const { filepath = '' } = params;
      const path = await services.root.pathOf(guard, filepath, 'write');
      const { handle, stats } = await services.versions.open(path, String(body.version), filepath);
      try {
        const conditions = conditionsOf(request);
        const written = await services.files.write(guard, filepath, chunksOf(handle), conditions);
        const { body: entry, ...reply } = writtenReply(call, written);
        return { ...reply, body: { ...entry, restored: body.version, was: etagOf(stats) } };
      } finally {
        await handle.close();
      }
    },
  },
];
