import { beforeAll } from '@jest/globals';
import { installBubblewrap } from '../support/commands.js';
import { describeShell, describeShellTool } from '../support/describe-shell.js';
import { startOrchestrator } from '../support/orchestrator.js';
import { PLACES } from '../support/workspaces.js';

beforeAll(installBubblewrap);

for (const [name, start] of PLACES) describeShell(name, start, { namespaces: true });

for (const sandbox of ['bubblewrap', 'landlock'])
  describeShellTool(
    `confined by ${sandbox}`,
    async () => {
      const running = await startOrchestrator({ env: { SHELL_SANDBOX: sandbox } });
      return { running, folder: running.workspace, kill: async () => {}, stop: () => running.stop() };
    },
    { namespaces: sandbox === 'bubblewrap' },
  );
