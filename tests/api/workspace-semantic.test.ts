import { searchSettings } from '../../workspace-api/lib/search-settings.js';
import { readShellSettings } from '../../workspace-api/lib/shell/shell-settings.js';
import { createWorkspace } from '../../workspace-api/lib/workspace.js';
import { describeSemanticSearch } from '../support/describe-semantic-search.js';

const TOKEN = 'a-secret-of-this-test';

describeSemanticSearch('in this process', async (folder, env) => {
  const settings = { token: TOKEN, shell: readShellSettings({}), ...searchSettings(env) };
  const workspace = await createWorkspace({ folder, ...settings });
  const port = await workspace.listen('127.0.0.1', 0);
  return { url: `http://127.0.0.1:${port}`, token: TOKEN, stop: () => workspace.close() };
});
