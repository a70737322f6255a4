import type { ChildProcess } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { ended, eventually, fixture, root, startNode } from './processes.js';

export interface RunningOrchestrator {
  /** `http://127.0.0.1:PORT` */
  url: string;
  port: number;
  token: string;
  /** MCPBRIDGE_HOME of this run; the token file, the socket and the store are in it. */
  home: string;
  configFile: string;
  workspace: string;
  process: ChildProcess;
  /** Everything it wrote on stdout and stderr so far. */
  output(): string;
  /** `Authorization` and, when given, the session. */
  headers(session?: string): Record<string, string>;
  /** Graceful end; the folder stays when `keep` is set, for a restart in it. */
  stop(keep?: boolean): Promise<void>;
}

export interface StartOptions {
  /** Content of mcp_servers.json; default: the bare fixture as "bare". */
  servers?: Record<string, unknown>;
  env?: Record<string, string>;
  /** Of an earlier run that was stopped with `keep`, or killed. */
  again?: RunningOrchestrator;
  /** Do not wait for /ready. */
  early?: boolean;
}

export const bareServer = { command: process.execPath, args: [fixture('bare-server.mjs')] };

/** Starts the built orchestrator on a free port in a folder of its own and waits until its catalog can serve. */
export async function startOrchestrator(options: StartOptions = {}): Promise<RunningOrchestrator> {
  const { again } = options;
  const home = again?.home ?? (await mkdtemp(join(tmpdir(), 'mcpbridge-test-')));
  const configFile = again?.configFile ?? join(home, 'mcp_servers.json');
  const workspace = join(home, 'workspace');
  if (!again || options.servers) {
    await writeFile(configFile, JSON.stringify({ mcpServers: options.servers ?? { bare: bareServer } }));
  }
  const child = startNode(`${root}/packages/orchestrator/dist/main.js`, [], {
    HOST: '127.0.0.1',
    PORT: String(again?.port ?? 0),
    MCPBRIDGE_HOME: home,
    MCP_CONFIG: configFile,
    WORKSPACE_DIR: workspace,
    ...options.env,
  });
  let written = '';
  child.stderr?.on('data', (chunk) => (written += chunk));
  const port = await new Promise<number>((resolve, reject) => {
    child.once('exit', () => reject(new Error(`The orchestrator ended at its start:\n${written}`)));
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      written += `${line}\n`;
      const match = /http:\/\/127\.0\.0\.1:(\d+)/.exec(line);
      if (match) resolve(Number(match[1]));
    });
  });
  const url = `http://127.0.0.1:${port}`;
  const token = (await readFile(join(home, 'token'), 'utf8')).trim();
  if (!options.early)
    await eventually('/ready answers 200', async () => (await fetch(`${url}/ready`)).ok, 60_000);
  return {
    url,
    port,
    token,
    home,
    configFile,
    workspace,
    process: child,
    output: () => written,
    headers: (session) => ({
      authorization: `Bearer ${token}`,
      ...(session ? { 'x-session-id': session } : {}),
    }),
    async stop(keep = false) {
      child.kill('SIGTERM');
      await ended(child);
      if (!keep) await rm(home, { recursive: true, force: true });
    },
  };
}
