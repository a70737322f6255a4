import { posix } from 'node:path';
import { messageOf } from '@mcpbridge/shared/errors.js';
import { timeOrderedId } from '@mcpbridge/shared/ids.js';
import type { KeepLarge } from './calls/bounded-result.js';
import type { Log } from './log.js';
import { inAddress } from './providers/workspace/ask-workspace.js';
import { READ_FILE } from './providers/workspace/file-tool-definitions.js';
import type { WorkspaceClient } from './providers/workspace/workspace-client.js';
import type { Outputs } from './store/outputs.js';

interface Parts {
  outputs: Outputs;
  client: WorkspaceClient;
  log: Log;
}

/** In the session's folder, or the first that it may write. */
const FOLDER = 'tool_outputs';

/** Where results go that are too large for their session: as its policy says, a file of its own or the orchestrator's keeping. */
export function keepLargeResults({ outputs, client, log }: Parts): KeepLarge {
  return async ({ sessionId, effective: { guard, largeResults } }, tool, text) => {
    if (tool === READ_FILE.name) return `${READ_FILE.name} with first_line and lines`;
    const [folder] = guard.write;
    if (largeResults === 'workspace' && folder !== undefined) {
      const name = `${tool}-${timeOrderedId()}.${/^\s*[[{]/.test(text) ? 'json' : 'txt'}`;
      const path = posix.join(posix.relative(guard.home, folder), FOLDER, name);
      try {
        const body = Buffer.from(text);
        const headers = { 'content-type': 'application/octet-stream' };
        const request = { method: 'PUT' as const, path: `/api/documents/${inAddress(path)}`, body, headers };
        await client.json({ ...guard, env: {} }, request);
        return `file "${path}" of the workspace, for read_workspace_file or search_workspace_files`;
      } catch (thrown) {
        log.warn(`A large result of "${tool}" is not in the workspace: ${messageOf(thrown)}`);
      }
    }
    const id = await outputs.save(sessionId, text);
    return `read_large_output or search_large_output with id "${id}"`;
  };
}
