import { AppError } from '@mcpbridge/shared/errors.js';
import { applyDiff, type Patched } from '../diff/apply-diff.js';
import { readAll } from '../files/document.js';
import { isText } from '../files/file-kind.js';
import { quoted } from '../root/paths.js';
import { conditionsOf, writtenReply } from './documents.js';
import type { WorkspaceRoute } from './route.js';

/** What is larger is not changed by diffs: applying them would hold everybody else up. */
const MAX_BYTES = 4 * 1024 * 1024;

export const diffRoutes: WorkspaceRoute[] = [
  {
    method: 'PATCH',
    path: '/api/documents/{*filepath}/diff',
    summary: 'Change, or make, a text file by a unified diff: all of it or nothing',
    body: {
      type: 'object',
      properties: { diff: { type: 'string', minLength: 1, maxLength: MAX_BYTES } },
      required: ['diff'],
    },
    async run(call) {
      const { services, guard, params, body, request } = call;
      const path = params.filepath ?? '';
      let patched: Patched | undefined;
      const written = await services.files.update(
        guard,
        path,
        async (before) => {
          const bytes = before && (await readAll(before, MAX_BYTES + 1));
          if (bytes && (bytes.length > MAX_BYTES || !isText(bytes)))
            throw new AppError(
              'CONFLICT',
              `${quoted(path)} is not a text of at most ${MAX_BYTES} bytes, so no diff applies to it.`,
            );
          patched = applyDiff(bytes?.toString('utf8'), String(body.diff), path);
          return Buffer.from(patched.text);
        },
        conditionsOf(request),
      );
      const { body: entry, ...reply } = writtenReply(call, written);
      return { ...reply, body: { applied: true, how: patched?.how, repairs: patched?.repairs, ...entry } };
    },
  },
];
