import { chmodSync, rmSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Changes } from './changes.js';
import { Files } from './files/files.js';
import { Folders } from './files/folders.js';
import { Versions } from './files/versions.js';
import { createApp } from './http/app.js';
import type { EmbedderChoice } from './index/embedder.js';
import { SemanticIndex } from './index/semantic-index.js';
import { WorkspaceRoot } from './root/workspace-root.js';
import type { OrchestratorAddress } from './sandbox/forward.js';
import { findRipgrep } from './search/ripgrep.js';
import { Search } from './search/search.js';
import type { Services } from './services.js';
import { Shell } from './shell/shell.js';
import type { ShellSettings } from './shell/shell-settings.js';

export interface WorkspaceOptions {
  /** WORKSPACE_DIR. */
  folder: string;
  /** Whoever has it may say which session asks, and what that session may do. */
  token: string;
  /** Absolute folders that no session gets, should they be within the workspace. */
  hidden?: string[];
  /** Of one file that is uploaded. */
  maxFileBytes?: number;
  /** The machine's PATH: where programs are looked for. */
  path?: string;
  /** What passages are ranked by; default: the vectors that come with this package. */
  embedder?: EmbedderChoice;
  shell: ShellSettings;
  /** Where commands that may reach the orchestrator find it, at the moment; undefined: nowhere. */
  orchestrator?: () => OrchestratorAddress | undefined;
}

export interface Workspace {
  app: RequestListener;
  services: Services;
  /** On TCP; answers the port. */
  listen(host: string, port: number): Promise<number>;
  /** On a Unix socket that this user alone can open. */
  listenOnSocket(file: string): Promise<void>;
  close(): Promise<void>;
}

const MIB = 1024 * 1024;
const GIB = 1024 * MIB;
const MAX_BODY_BYTES = 24 * MIB;
/** Guards travel in a header, some with an environment. */
const MAX_HEADER_BYTES = MIB;

/** What an earlier run left there is of nobody any more. */
async function emptyFolder(folder: string): Promise<{ at(name: string): string }> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { mode: 0o700 });
  return { at: (name) => join(folder, name) };
}

/** The composition root of the workspace: the same whether it is embedded or a program of its own. */
export async function createWorkspace(options: WorkspaceOptions): Promise<Workspace> {
  const { folder, token, hidden, path, orchestrator = () => undefined, maxFileBytes = 16 * GIB } = options;
  const root = await WorkspaceRoot.open(folder, hidden);
  const changes = new Changes();
  const versions = new Versions(join(root.stateFolder, 'versions'));
  const files = new Files(root, versions, changes);
  const folders = new Folders(root, versions, changes);
  const uploads = await emptyFolder(join(root.stateFolder, 'uploads'));
  const search = new Search({ root, ripgrep: findRipgrep(path) });
  const index = new SemanticIndex({ root, changes, embedder: options.embedder ?? { kind: 'local' } });
  const shell = await Shell.open({ root, settings: options.shell, orchestrator });
  const services: Services = {
    ...{ root, changes, versions, files, folders, uploads, search, index, shell, maxFileBytes },
  };
  const app = createApp({ services, token, maxBodyBytes: MAX_BODY_BYTES });
  const servers: Server[] = [];

  function listen(start: (server: Server, ready: () => void) => void): Promise<Server> {
    // No limits on time here: uploads and commands take as long as they take.
    const server = createServer({ requestTimeout: 0, maxHeaderSize: MAX_HEADER_BYTES, noDelay: true }, app);
    servers.push(server);
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      start(server, () => resolve(server));
    });
  }

  return {
    app,
    services,
    async listen(host, port) {
      const server = await listen((made, ready) => made.listen(port, host, ready));
      return (server.address() as AddressInfo).port;
    },
    async listenOnSocket(file) {
      rmSync(file, { force: true });
      await listen((made, ready) => made.listen(file, ready));
      chmodSync(file, 0o600);
    },
    async close() {
      const closed = servers.map((server) => new Promise((resolve) => server.close(resolve)));
      for (const server of servers) server.closeAllConnections();
      await Promise.all([...closed, search.close(), index.close()]);
      await shell.close();
      await root.close();
    },
  };
}
