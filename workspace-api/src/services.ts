import type { Changes } from './changes.js';
import type { Files } from './files/files.js';
import type { Folders } from './files/folders.js';
import type { Versions } from './files/versions.js';
import type { SemanticIndex } from './index/semantic-index.js';
import type { WorkspaceRoot } from './root/workspace-root.js';
import type { Search } from './search/search.js';
import type { Shell } from './shell/shell.js';

/** What routes work with; workspace.ts makes them. */
export interface Services {
  root: WorkspaceRoot;
  changes: Changes;
  versions: Versions;
  files: Files;
  folders: Folders;
  /** Where uploads are until they are whole; on the disk of the workspace. */
  uploads: { at(name: string): string };
  search: Search;
  index: SemanticIndex;
  /** Of one file that is uploaded. */
  maxFileBytes: number;
  shell: Shell;
}
