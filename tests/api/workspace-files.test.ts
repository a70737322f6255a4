import { describeWorkspaceFiles } from '../support/describe-workspace-files.js';
import { PLACES } from '../support/workspaces.js';

for (const [name, start] of PLACES) describeWorkspaceFiles(name, start);
