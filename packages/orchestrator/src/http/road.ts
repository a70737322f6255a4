import type { IncomingMessage, ServerResponse } from 'node:http';
import { AppError } from '@mcpbridge/shared/errors.js';
import { readBody } from '@mcpbridge/shared/read-body.js';
import findMyWay, { type Handler, type HTTPVersion } from 'find-my-way';
import type { Gate } from '../auth/gate.js';
import type { Exchange, HotRequest, HotResponse } from './exchange.js';
import type { Serve } from './fast-lane.js';
import { sendError } from './reply.js';
import type { HotRoute } from './routes.js';

type Listener = (request: IncomingMessage, response: ServerResponse) => void;

interface RoadOptions {
  gate: Gate;
  hotRoutes: readonly HotRoute[];
  /** Everything that is not hot. */
  rest: Listener;
  maxBodyBytes: number;
}

/** What both doors lead to. */
export interface Road {
  /** Any request, as node:http reads it. */
  listener: Listener;
  /** For the fast lane: what serves POSTs to that address if it is a hot one. */
  serveAt(url: string): Serve | undefined;
  maxBodyBytes: number;
}

/**
 * Host and Origin first, then the hot routes bare, then Express for the rest.
 * Express costs more than the call it would carry (DESIGN.md section 5).
 */
export function createRoad({ gate, hotRoutes, rest, maxBodyBytes }: RoadOptions): Road {
  const router = findMyWay({
    defaultRoute: rest,
    maxParamLength: 1000,
    onBadUrl: (path, _request, response) => sendError(response, badUrl(path)),
  });
  for (const route of hotRoutes) {
    const handler: Handler<HTTPVersion.V1> = (request, response, params) => {
      carry(route, request, response, params, () => readBody(request, maxBodyBytes));
    };
    router.on(route.method, route.path.replaceAll(/\{(\w+)\}/g, ':$1'), handler, route);
  }

  function carry(
    route: HotRoute,
    request: HotRequest,
    response: HotResponse,
    params: Exchange['params'],
    body: Exchange['body'],
  ): void {
    const failed = (thrown: unknown) => sendError(response, thrown);
    try {
      const principal = gate.principalOf(request);
      route.handle({ request, response, params, principal, body }).catch(failed);
    } catch (thrown) {
      failed(thrown);
    }
  }

  function serveAt(url: string): Serve | undefined {
    const found = router.find('POST', url);
    if (!found) return undefined;
    const route: HotRoute = found.store;
    return (request, response, body) => {
      try {
        gate.checkOrigin(request);
      } catch (thrown) {
        sendError(response, thrown);
        return;
      }
      carry(route, request, response, found.params, () => body);
    };
  }

  function listener(request: IncomingMessage, response: ServerResponse): void {
    try {
      gate.checkOrigin(request);
      router.lookup(request, response);
    } catch (thrown) {
      sendError(response, thrown);
    }
  }

  return { listener, serveAt, maxBodyBytes };
}

function badUrl(path: string): AppError {
  return new AppError('INVALID_REQUEST', `The address ${JSON.stringify(path)} is not well formed.`);
}
