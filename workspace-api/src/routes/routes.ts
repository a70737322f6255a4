import { diffRoutes } from './diff.js';
import { documentRoutes } from './documents.js';
import { executeRoutes } from './execute.js';
import { folderRoutes } from './folders.js';
import { healthRoutes } from './health.js';
import type { WorkspaceRoute } from './route.js';
import { searchRoutes } from './search.js';
import { semanticRoutes } from './semantic.js';
import { uploadRoutes } from './upload.js';
import { versionRoutes } from './versions.js';

/** What sessions can ask for; the orchestrator forwards these. */
export const workspaceRoutes: readonly WorkspaceRoute[] = [
  ...documentRoutes,
  ...diffRoutes,
  ...versionRoutes,
  ...uploadRoutes,
  ...folderRoutes,
  ...searchRoutes,
  ...semanticRoutes,
  ...executeRoutes,
];

/** Of the service itself, not forwarded; these need no token. */
export const openRoutes: readonly WorkspaceRoute[] = healthRoutes;
