import type { IncomingMessage, ServerResponse } from 'node:http';
import { AppError } from '@mcpbridge/shared/errors.js';
import { parseJson, readBody } from '@mcpbridge/shared/read-body.js';
import { HEADER } from '@mcpbridge/shared/wire.js';
import express, { type Express } from 'express';
import type { Gate } from '../auth/gate.js';
import type { Principal } from '../auth/principal.js';
import { servePage } from './page.js';
import { sendError, sendJson } from './reply.js';
import type { PlainRoute, RouteDescription, StreamRoute } from './routes.js';

interface AppOptions {
  gate: Gate;
  routes: readonly (PlainRoute | StreamRoute)[];
  /** All routes, hot ones too: a known address with another method is told apart from an unknown one. */
  described: readonly RouteDescription[];
  maxBodyBytes: number;
  /** The built dashboard. */
  pageFolder: string;
}

/** Everything that is no call, as an Express app that does not listen. */
export function createApp({ gate, routes, described, maxBodyBytes, pageFolder }: AppOptions): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  servePage(app, pageFolder);
  for (const route of routes) {
    const path = route.path.replaceAll(/\{(\*?)(\w+)\}/g, (_, rest, name) => `${rest || ':'}${name}`);
    app[METHODS[route.method]](path, async (request, response) => {
      if (!route.open) await gate.admit(request);
      const principal: Principal = route.open ? ANYONE : gate.principalOf(request);
      if (!route.open && !mayUse(principal, route)) throw forbidden(principal, route);
      if ('stream' in route) {
        await route.stream(request, response, principal);
        return;
      }
      const body = route.body ? parseJson(await readBody(request, maxBodyBytes)) : undefined;
      const params = request.params as Record<string, string>;
      const sessionId = request.get(HEADER.session) ?? principal.sessionId;
      const input = {
        params,
        query: queryOf(request),
        body,
        principal,
        headers: request.headers,
        ...(sessionId ? { sessionId } : {}),
      };
      const reply = await route.run(input);
      if ('write' in reply) reply.write(response);
      else if (reply.etag !== undefined && request.headers['if-none-match'] === reply.etag)
        response.writeHead(304, { etag: reply.etag }).end();
      else
        sendJson(response, reply.status ?? 200, reply.body, {
          ...(reply.etag === undefined ? {} : { etag: reply.etag }),
          ...reply.headers,
        });
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

const METHODS = { GET: 'get', POST: 'post', PUT: 'put', PATCH: 'patch', DELETE: 'delete' } as const;

const ANYONE: Principal = { id: 'anyone', isAdmin: false };

/** The one check of who may do what is not a call. */
function mayUse({ isAdmin, sessionId }: Principal, { forSessions, forKeys }: RouteDescription): boolean {
  return isAdmin || forSessions === true || (forKeys === true && sessionId === undefined);
}

function forbidden({ sessionId }: Principal, { method, path }: RouteDescription): AppError {
  const whose = sessionId === undefined ? 'This key' : 'The token of a session';
  return new AppError('FORBIDDEN', `${whose} may not ${method} ${path}: that is the owner's.`);
}

function queryOf(request: IncomingMessage): Record<string, string> {
  return Object.fromEntries(new URL(request.url ?? '/', 'http://localhost').searchParams);
}

function unknownRoute(request: IncomingMessage, described: readonly RouteDescription[]): AppError {
  const path = new URL(request.url ?? '/', 'http://localhost').pathname;
  const fitting = described.filter((route) =>
    new RegExp(`^${route.path.replaceAll(/\{\w+\}/g, '[^/]+').replaceAll(/\{\*\w+\}/g, '.+')}$`).test(path),
  );
  if (fitting.length === 0)
    return new AppError('NOT_FOUND', `There is nothing at ${path}; GET /api/openapi.json lists all routes.`);
  return new AppError(
    'METHOD_NOT_ALLOWED',
    `${path} takes ${fitting.map((route) => route.method).join(', ')}, not ${request.method}.`,
  );
}
