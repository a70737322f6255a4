import type { ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type RunningOrchestrator, startOrchestrator } from './orchestrator.js';
import { ended, root, startNode } from './processes.js';

export interface RunningWorkspace {
  url: string;
  folder: string;
  token: string;
  process: ChildProcess;
  stop(): Promise<void>;
}

/** The workspace as a program of its own, as its container runs it; `wrapper` is a command line that becomes it. */
export async function startWorkspace(
  env: Record<string, string> = {},
  wrapper: string[] = [],
): Promise<RunningWorkspace> {
  const folder = await mkdtemp(join(tmpdir(), 'mcpbridge-workspace-'));
  const token = 'token-of-the-workspace';
  const settings = { PORT: '0', WORKSPACE_DIR: folder, WORKSPACE_TOKEN: token, ...env };
  const child = startNode(`${root}/workspace-api/dist/main.js`, [], settings, root, wrapper);
  const url = await new Promise<string>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`The workspace ended at its start with ${code}.`)));
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      const [address] = /http:\/\/127\.0\.0\.1:\d+/.exec(line) ?? [];
      if (address) resolve(address);
    });
  });
  return {
    url,
    folder,
    token,
    process: child,
    async stop() {
      child.kill('SIGTERM');
      await ended(child);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** An orchestrator, and where the files of its workspace are on this machine. */
export interface OrchestratedWorkspace {
  running: RunningOrchestrator;
  folder: string;
  /** Of the process that the workspace is in, where it is on this machine's list. */
  pid?: number | undefined;
  /** The same as those see it who are in a container with it. */
  pidInside?: number | undefined;
  /** Ends the workspace alone, where it is a program of its own. */
  stopWorkspace?(): Promise<void>;
  /** A folder beside the workspace, which its process can see; default: the orchestrator's home. */
  beside?: string;
  /** Ends the process of the workspace as nothing can prepare for. */
  kill(): Promise<void>;
  stop(): Promise<void>;
}

/** Both places where the workspace may run; what is tested of one holds for the other. */
export const PLACES: [string, () => Promise<OrchestratedWorkspace>][] = [
  [
    'embedded',
    async () => {
      const running = await startOrchestrator();
      return {
        running,
        folder: running.workspace,
        pid: running.process.pid,
        kill: async () => void running.process.kill('SIGKILL'),
        stop: () => running.stop(),
      };
    },
  ],
  [
    'a program of its own',
    async () => {
      const workspace = await startWorkspace();
      const running = await startOrchestrator({
        env: { WORKSPACE_URL: workspace.url, WORKSPACE_TOKEN: workspace.token },
      });
      const stop = async () => {
        await running.stop();
        await workspace.stop();
      };
      return {
        running,
        folder: workspace.folder,
        pid: workspace.process.pid,
        stopWorkspace: () => workspace.stop(),
        kill: async () => void workspace.process.kill('SIGKILL'),
        stop,
      };
    },
  ],
];
