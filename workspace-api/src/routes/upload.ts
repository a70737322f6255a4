import { posix } from 'node:path';
import { AppError } from '@mcpbridge/shared/errors.js';
import { readUpload } from '../files/read-upload.js';
import { writtenReply } from './documents.js';
import { isOn } from './query.js';
import type { WorkspaceRoute } from './route.js';

export const uploadRoutes: WorkspaceRoute[] = [
  {
    method: 'POST',
    path: '/api/upload',
    summary: 'Files as multipart/form-data, of any number of bytes; fields: folder_path, overwrite',
    async run(call) {
      const { services, guard, request } = call;
      const { files, uploads, maxFileBytes } = services;
      const { fields, files: received } = await readUpload(request, uploads, maxFileBytes);
      try {
        if (received.length === 0) throw new AppError('INVALID_REQUEST', 'There is no file in the upload.');
        const stored = [];
        for (const { filename, temporary } of received) {
          const path = posix.join(fields.folder_path || '.', filename);
          const written = await files.adopt(guard, path, temporary, { onlyNew: !isOn(fields.overwrite) });
          stored.push(writtenReply(call, written).body);
        }
        return { status: 201, body: { files: stored } };
      } finally {
        for (const { temporary } of received) await temporary.end();
      }
    },
  },
];
