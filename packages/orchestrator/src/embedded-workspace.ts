import { randomBytes } from 'node:crypto';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '@mcpbridge/shared/errors.js';
import { type Guard, ownFolderGuard } from '@mcpbridge/shared/folder-guard.js';
import { searchSettings } from '@mcpbridge/workspace-api/search-settings.js';
import { readShellSettings } from '@mcpbridge/workspace-api/shell/shell-settings.js';
import { createWorkspace } from '@mcpbridge/workspace-api/workspace.js';
import { WorkspaceClient } from './providers/workspace/workspace-client.js';
import type { Settings } from './settings.js';

const HEALTH_MS = 2000;

export interface OpenedWorkspace {
  client: WorkspaceClient;
  /** From now on commands that may reach this orchestrator find it there. */
  orchestratorIsAt(address: { host: string; port: number }): void;
  /** How it confines commands, or why it runs none. */
  shell(): Promise<unknown>;
  /** What runs for that session ends. */
  endSession(guard: Guard): Promise<void>;
  close(): Promise<void>;
}

/** The workspace that the settings name, or one within this process: behind a socket of this user, with a new secret. */
export async function openWorkspace({
  home,
  workspace,
  workspaceFolder,
  env,
}: Settings): Promise<OpenedWorkspace> {
  if (workspace) {
    const client = new WorkspaceClient(workspace);
    const endAtWorkspace = async (guard: Guard) => {
      await client.json({ ...guard, env: {} }, { method: 'DELETE', path: '/api/execute' });
    };
    // It was told by its own settings.
    return {
      client,
      orchestratorIsAt: () => undefined,
      shell: () => shellAt(client),
      endSession: endAtWorkspace,
      close: () => client.close(),
    };
  }
  const token = randomBytes(32).toString('base64url');
  const socketPath = join(home, `workspace-${process.pid}.sock`);
  removeLeftovers(home);
  let orchestrator: { host: string; port: number } | undefined;
  const embedded = await createWorkspace({
    folder: workspaceFolder,
    token,
    hidden: [home],
    ...searchSettings(env),
    shell: readShellSettings(env),
    orchestrator: () => orchestrator,
  });
  await embedded.listenOnSocket(socketPath);
  const client = new WorkspaceClient({ url: 'http://workspace', socketPath, token });
  return {
    client,
    orchestratorIsAt(address) {
      orchestrator = address;
    },
    shell: () => embedded.services.shell.state(),
    endSession: ({ sessionId }) => embedded.services.shell.endSession(sessionId),
    async close() {
      await client.close();
      await embedded.close();
    },
  };
}

async function shellAt(client: WorkspaceClient): Promise<unknown> {
  try {
    const signal = AbortSignal.timeout(HEALTH_MS);
    return (await client.json(ownFolderGuard('health'), { method: 'GET', path: '/health', signal })).shell;
  } catch (thrown) {
    return { available: false, reason: messageOf(thrown) };
  }
}

/** Sockets of orchestrators that were killed. */
function removeLeftovers(home: string): void {
  for (const name of readdirSync(home)) {
    const pid = /^workspace-(\d+)\.sock$/.exec(name)?.[1];
    if (pid !== undefined && !isAlive(Number(pid))) rmSync(join(home, name), { force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
