import type { IncomingMessage, ServerResponse } from 'node:http';
import { AppError, toAppError } from '@mcpbridge/shared/errors.js';
import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';
import { parseJson, readBody } from '@mcpbridge/shared/read-body.js';
import { type Check, compileSchema } from '@mcpbridge/shared/validate.js';
import express, { type Express, type Request, type Response } from 'express';
import type { WorkspaceRoute } from '../routes/route.js';
import { openRoutes, workspaceRoutes } from '../routes/routes.js';
import type { Services } from '../services.js';
import { guardOf, secretCheck } from './secret.js';

interface AppOptions {
  services: Services;
  token: string;
  /** Bytes of a body that is JSON. */
  maxBodyBytes: number;
}

/** The routes as an Express app that does not listen. */
export function createApp({ services, token, maxBodyBytes }: AppOptions): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  const checkSecret = secretCheck(token);
  for (const route of openRoutes) add(route, () => undefined);
  for (const route of workspaceRoutes) add(route, checkSecret);
  app.use((request: IncomingMessage) => {
    throw new AppError('NOT_FOUND', `There is nothing at ${request.method} ${pathOf(request)}.`);
  });
  app.use((thrown: unknown, _request: IncomingMessage, response: ServerResponse, _next: () => void) =>
    sendError(response, thrown),
  );
  return app;

  function add(route: WorkspaceRoute, checkCaller: (request: IncomingMessage) => void): void {
    const check = bodyCheck(route);
    app[METHODS[route.method]](expressPath(route.path), async (request: Request, response: Response) => {
      checkCaller(request);
      const gone = new AbortController();
      response.on('close', () => {
        if (!response.writableFinished) gone.abort();
      });
      const guard = services.root.adopt(guardOf(request));
      const body = route.body ? check(parseJson(await readBody(request, maxBodyBytes))) : {};
      const params = paramsOf(request);
      const query = queryOf(request);
      const { signal } = gone;
      const reply = await route.run({ services, guard, params, query, body, request, response, signal });
      if (reply) sendJson(response, reply.status ?? 200, reply.body, reply.headers);
    });
  }
}

const METHODS = { GET: 'get', POST: 'post', PUT: 'put', PATCH: 'patch', DELETE: 'delete' } as const;

function expressPath(path: string): string {
  return path.replaceAll(/\{(\*?)(\w+)\}/g, (_whole, rest, name) => `${rest || ':'}${name}`);
}

/** Compiled at its first use. */
function bodyCheck({ body: schema }: WorkspaceRoute): (body: unknown) => JsonObject {
  let check: Check | undefined;
  return (body) => {
    check ??= compileSchema(schema ?? {});
    const faults = isObject(body) ? check(body) : ['the body must be a JSON object'];
    if (faults.length === 0) return body as JsonObject;
    throw new AppError('INVALID_REQUEST', `The request cannot be so: ${faults.join('; ')}.`, {
      details: { faults },
    });
  };
}

/** A rest comes in parts; each was decoded by itself, so a part may have a slash in it, which no file name has. */
function paramsOf({ params }: Request): Record<string, string> {
  const read: Record<string, string> = {};
  for (const [name, value] of Object.entries(params as Record<string, string | string[]>)) {
    read[name] = Array.isArray(value) ? value.join('/') : value;
  }
  return read;
}

function queryOf(request: IncomingMessage): Record<string, string> {
  return Object.fromEntries(new URL(request.url ?? '/', 'http://localhost').searchParams);
}

function pathOf(request: IncomingMessage): string {
  return new URL(request.url ?? '/', 'http://localhost').pathname;
}

export function sendJson(
  response: ServerResponse,
  status: number,
  value: unknown,
  headers: Record<string, string> = {},
): void {
  const json = JSON.stringify(value);
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(json),
    ...headers,
  });
  response.end(json);
}

/** The one place where a failure becomes an answer. */
function sendError(response: ServerResponse, thrown: unknown): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const error = asAppError(thrown);
  sendJson(response, error.status, { success: false, error: error.toBody() });
}

/** Express refuses addresses that are not well encoded, with a status of its own. */
function asAppError(thrown: unknown): AppError {
  if (thrown instanceof URIError) return new AppError('INVALID_REQUEST', 'The address is not well encoded.');
  return toAppError(thrown);
}
