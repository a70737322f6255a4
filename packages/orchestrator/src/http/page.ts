import { existsSync } from 'node:fs';
import { join } from 'node:path';
import compression from 'compression';
import type { RequestHandler } from 'express';
import express, { type Express } from 'express';

/** First parts of the addresses that the page itself makes views of (shared/reference: dashboard, section 2). */
const VIEW =
  /^\/(?:(?:servers|sessions|recordings|approvals|agent|runs|stats|settings|tools|calls)(?:\/[^/]+)?\/?)?$/;

const HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

const NOT_BUILT = 'The dashboard is not built: run "npm run build" and load this page again.\n';

/** The dashboard's files, which hold nothing of anybody and are open; what they ask for is not. */
export function servePage(app: Express, folder: string): void {
  app.use(compress);
  app.use(
    '/assets',
    express.static(join(folder, 'assets'), { index: false, immutable: true, maxAge: '1y', setHeaders }),
  );
  app.use(express.static(folder, { index: false, maxAge: 0, setHeaders }));
  app.get(VIEW, (_request, response) => {
    response.set(HEADERS);
    const page = join(folder, 'index.html');
    if (existsSync(page))
      response.set('cache-control', 'no-cache').sendFile(page, { dotfiles: 'allow', cacheControl: false });
    else response.status(503).type('text/plain').send(NOT_BUILT);
  });
}

/** Not what is sent piece by piece: it would wait for the next piece. */
const compress: RequestHandler = compression({
  filter: (request, response) =>
    response.getHeader('content-type') !== 'text/event-stream' && compression.filter(request, response),
});

function setHeaders(response: { setHeader(name: string, value: string): unknown }): void {
  for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
}
