import type { PlainRoute } from '../routes.js';

const METRICS_TYPE = 'application/openmetrics-text; version=1.0.0; charset=utf-8';

export function metricsRoutes(text: () => Promise<string>): PlainRoute[] {
  return [
    {
      method: 'GET',
      path: '/metrics',
      summary: 'For Prometheus, in the OpenMetrics format',
      run: async () => {
        const body = await text();
        return {
          write: (response) => void response.writeHead(200, { 'content-type': METRICS_TYPE }).end(body),
        };
      },
    },
  ];
}
