import type { WorkspaceRoute } from './route.js';

export const healthRoutes: WorkspaceRoute[] = [
  {
    method: 'GET',
    path: '/health',
    summary: 'Whether the service works, and with what',
    run: async ({ services }) => ({
      body: { status: 'ok', service: 'workspace-api', shell: await services.shell.state() },
    }),
  },
];
