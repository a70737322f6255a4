import { readShellSettings } from '../../workspace-api/lib/shell/shell-settings.js';
import { createWorkspace } from '../../workspace-api/lib/workspace.js';
import { describeWorkspaceSearch } from '../support/describe-workspace-search.js';
import { startWorkspace } from '../support/workspaces.js';

const TOKEN = 'a-secret-of-this-test';

describeWorkspaceSearch('in this process', async (folder) => {
  const workspace = await createWorkspace({ folder, token: TOKEN, shell: readShellSettings({}) });
  const port = await workspace.listen('127.0.0.1', 0);
  return { url: `http://127.0.0.1:${port}`, token: TOKEN, stop: () => workspace.close() };
});

describeWorkspaceSearch('a program of its own', (folder) => startWorkspace({ WORKSPACE_DIR: folder }));
