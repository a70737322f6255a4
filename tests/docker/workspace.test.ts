import { type ChildProcess, spawn } from 'node:child_process';
import { afterAll, beforeAll, describe } from '@jest/globals';
import { describePathAttacks } from '../support/describe-path-attacks.js';
import { describeSemanticSearch } from '../support/describe-semantic-search.js';
import { describeShell, describeShellTool } from '../support/describe-shell.js';
import { describeShellAttacks } from '../support/describe-shell-attacks.js';
import { describeWorkspaceFiles } from '../support/describe-workspace-files.js';
import { describeWorkspaceSearch } from '../support/describe-workspace-search.js';
import { ended } from '../support/processes.js';
import { TestEngine } from './support/engine.js';
import { startInContainer, startInFolder } from './support/workspace-container.js';

describe('docker', () => {
  let engine: TestEngine;
  let others: ChildProcess;
  beforeAll(async () => {
    engine = await TestEngine.start('docker');
    await engine.importMachine();
    // Of the same user, unseen in the container, and more than a command may have: the system counts them together.
    const script = 'for one in $(seq 300); do sleep 3600 & done; wait';
    others = spawn('/bin/sh', ['-c', script], { uid: 1000, gid: 1000, cwd: '/', detached: true });
  });
  afterAll(async () => {
    await engine.stop();
    if (others.pid !== undefined) process.kill(-others.pid, 'SIGKILL');
    await ended(others);
  });

  const start = () => startInContainer(engine);
  describeWorkspaceFiles('in a container', start);
  describePathAttacks('in a container', start);
  describeWorkspaceSearch('in a container', (folder, outside) => startInFolder(engine, folder, { outside }));
  describeSemanticSearch('in a container', (folder, env) => startInFolder(engine, folder, { env }));
  describeShell('in a container', start, { namespaces: false });
  describeShellTool('in a container', start, { namespaces: false });
  describeShellAttacks('in a container', 'landlock', (env) => startInContainer(engine, env));
});
