import { AppError, messageOf } from '@mcpbridge/shared/errors.js';
import { readSettings } from './settings.js';
import { createWorkspace, type Workspace } from './workspace.js';

try {
  const { host, port, orchestrator, search, ...options } = readSettings();
  const workspace = await createWorkspace({ ...options, ...search, orchestrator: () => orchestrator });
  const bound = await workspace.listen(host, port);
  console.log(`Workspace on http://${host}:${bound}   files in ${options.folder}`);
  endOnSignals(workspace);
} catch (thrown) {
  console.error(explain(thrown));
  process.exit(1);
}

/** The first signal closes it, the second ends at once. */
function endOnSignals(workspace: Workspace): void {
  let ending = false;
  const end = () => {
    if (ending) process.exit(1);
    ending = true;
    workspace.close().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  process.on('SIGTERM', end);
  process.on('SIGINT', end);
}

function explain(thrown: unknown): string {
  if ((thrown as NodeJS.ErrnoException).code === 'EADDRINUSE')
    return 'The port is taken by another program: set PORT to a free one (0 takes any).';
  if (thrown instanceof AppError) return thrown.message;
  return `The workspace could not start: ${thrown instanceof Error ? thrown.stack : messageOf(thrown)}`;
}
