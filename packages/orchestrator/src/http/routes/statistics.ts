import { AppError } from '@mcpbridge/shared/errors.js';
import type { CallQueries } from '../../store/call-queries.js';
import { GROUPED, type Grouped } from '../../store/call-statistics.js';
import { callSelection, countOf, SELECTION_QUERY } from '../call-selection.js';
import type { PlainRoute } from '../routes.js';

const DAY_MS = 24 * 60 * 60_000;
const BUCKETS = { least: 1, most: 2000, usual: 60 };

export function statisticsRoutes(queries: CallQueries): PlainRoute[] {
  return [
    {
      method: 'GET',
      path: '/api/stats',
      summary:
        'Calls in figures: by tool or another key, in all, and over time; of the last 24 hours unless told otherwise',
      query: {
        ...SELECTION_QUERY,
        by: `one of ${GROUPED.join(', ')}; default tool`,
        buckets: `parts of the time, 1 to ${BUCKETS.most}, default ${BUCKETS.usual}`,
      },
      forKeys: true,
      run: async ({ query, principal }) => {
        const { filter, since, until = Date.now() } = callSelection(query, principal);
        const by = query.by ?? 'tool';
        if (!GROUPED.some((known) => known === by))
          throw new AppError(
            'INVALID_REQUEST',
            `Calls are not grouped by "${by}"; by one of ${GROUPED.join(', ')}.`,
          );
        const from = since ?? until - DAY_MS;
        if (from >= until) throw new AppError('INVALID_REQUEST', 'since must be before until.');
        const buckets = countOf('buckets', query.buckets, BUCKETS);
        return { body: await queries.statistics({ filter, since: from, until }, by as Grouped, buckets) };
      },
    },
  ];
}
