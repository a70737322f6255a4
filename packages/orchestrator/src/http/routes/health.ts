import type { Catalog } from '../../catalog/catalog.js';
import type { PlainRoute } from '../routes.js';

/** `/health`: the process lives. `/ready`: the catalog can serve. */
export function healthRoutes(catalog: Catalog): PlainRoute[] {
  return [
    {
      method: 'GET',
      path: '/health',
      summary: 'The process lives',
      open: true,
      run: () => ({ body: { status: 'ok' } }),
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
