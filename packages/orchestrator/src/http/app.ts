import type { IncomingMessage, ServerResponse } from 'node:http';
import { AppError } from '@mcpbridge/shared/errors.js';
import { parseJson, readBody } from '@mcpbridge/shared/read-body.js';
import { HEADER } from '@mcpbridge/shared/wire.js';
import express, { type Express } from 'express';
import type { Gate, Principal } from '../auth/gate.js';
import { sendError, sendJson } from './reply.js';
import type { PlainRoute, RouteDescription } from './routes.js';

interface AppOptions {
  gate: Gate;
  routes: readonly PlainRoute[];
  /** All routes, hot ones too: a known address with another method is told apart from an unknown one. */
  described: readonly RouteDescription[];
  maxBodyBytes: number;
}

/** Everything that is no call, as an Express app that does not listen. */
export function createApp({ gate, routes, described, maxBodyBytes }: AppOptions): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  for (const route of routes) {
    const path = route.path.replaceAll(/\{(\w+)\}/g, ':$1');
    app[METHODS[route.method]](path, async (request, response) => {
      const principal: Principal = route.open ? { id: 'anyone' } : gate.principalOf(request);
      if (!route.open && !route.forSessions && principal.sessionId !== undefined) throw forbidden(route);
      const body = route.body ? parseJson(await readBody(request, maxBodyBytes)) : undefined;
      const params = request.params as Record<string, string>;
      const sessionId = request.get(HEADER.session) ?? principal.sessionId;
      const input = {
        params,
        query: queryOf(request),
        body,
        principal,
        ...(sessionId ? { sessionId } : {}),
      };
      const reply = await route.run(input);
      if (reply.etag !== undefined && request.headers['if-none-match'] === reply.etag)
        response.writeHead(304, { etag: reply.etag }).end();
      else
        sendJson(
          response,
          reply.status ?? 200,
          reply.body,
          reply.etag === undefined ? {} : { etag: reply.etag },
        );
    });
  }
  app.use((request: IncomingMessage) => {
    throw unknownRoute(request, described);
  });
  app.use((thrown: unknown, _request: IncomingMessage, response: ServerResponse, _next: () => void) =>
    sendError(response, thrown),
  );
  return app;
}

const METHODS = { GET: 'get', POST: 'post', PATCH: 'patch', DELETE: 'delete' } as const;

function forbidden({ method, path }: RouteDescription): AppError {
  return new AppError('FORBIDDEN', `The token of a session may not ${method} ${path}: that is the owner's.`);
}

function queryOf(request: IncomingMessage): Record<string, string> {
  return Object.fromEntries(new URL(request.url ?? '/', 'http://localhost').searchParams);
}

function unknownRoute(request: IncomingMessage, described: readonly RouteDescription[]): AppError {
  const path = new URL(request.url ?? '/', 'http://localhost').pathname;
  const fitting = described.filter((route) =>
    new RegExp(`^${route.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path),
  );
  if (fitting.length === 0)
    return new AppError('NOT_FOUND', `There is nothing at ${path}; GET /api/openapi.json lists all routes.`);
  return new AppError(
    'METHOD_NOT_ALLOWED',
    `${path} takes ${fitting.map((route) => route.method).join(', ')}, not ${request.method}.`,
  );
}
