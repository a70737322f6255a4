import type { Catalog } from '../../catalog/catalog.js';
import type { PlainRoute } from '../routes.js';

/** `/health`: the process lives; `shell` is how the workspace confines commands. `/ready`: the catalog can serve. */
export function healthRoutes(catalog: Catalog, shell: () => Promise<unknown>): PlainRoute[] {
  return [
    {
      method: 'GET',
      path: '/health',
      summary: 'The process lives, and how commands are confined',
      open: true,
      run: async () => ({ body: { status: 'ok', shell: await shell() } }),
    },
    {
      method: 'GET',
      path: '/ready',
      summary: '200 when the catalog can serve; else 503 and what it waits for',
      open: true,
      run: () => {
        const waiting = catalog.allProviders().filter((provider) => provider.health.state === 'starting');
        if (waiting.length === 0) return { body: { status: 'ready', tools: catalog.view().tools.length } };
        return {
          status: 503,
          body: { status: 'starting', waiting_for: waiting.map((provider) => provider.id) },
        };
      },
    },
  ];
}
