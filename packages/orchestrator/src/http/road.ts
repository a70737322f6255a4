import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { AppError } from '@mcpbridge/shared/errors.js';
import { readBody } from '@mcpbridge/shared/read-body.js';
import findMyWay, { type Handler, type HTTPVersion } from 'find-my-way';
import type { Gate } from '../auth/gate.js';
import type { Exchange, HotRequest, HotResponse } from './exchange.js';
import type { Serve } from './fast-lane.js';
import { sendError } from './reply.js';
import type { HotRoute } from './routes.js';

type Upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
type Listener = (request: IncomingMessage, response: ServerResponse) => void;

interface RoadOptions {
  gate: Gate;
  hotRoutes: readonly HotRoute[];
  /** Everything that is not hot. */
  rest: Listener;
  upgrade: Upgrade;
  maxBodyBytes: number;
}

/** What both doors lead to. */
export interface Road {
  /** Any request, as node:http reads it. */
  listener: Listener;
  /** For the fast lane: what serves POSTs to that address if it is a hot one. */
  serveAt(url: string): Serve | undefined;
  /** A request that asks for another protocol. */
  upgrade: Upgrade;
  maxBodyBytes: number;
}

/**
 * Host and Origin first, then the hot routes bare, then Express for the rest.
 * Express costs more than the call it would carry (DESIGN.md section 5).
 */
export function createRoad({ gate, hotRoutes, rest, upgrade, maxBodyBytes }: RoadOptions): Road {
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
    const admitted = gate.admit(request);
    if (!admitted) serve(route, request, response, params, body);
    // Only so is a token of a login service heard of for the first time.
    else
      admitted.then(
        () => serve(route, request, response, params, body),
        (thrown) => sendError(response, thrown),
      );
  }

  function serve(
    route: HotRoute,
    request: HotRequest,
    response: HotResponse,
    params: Exchange['params'],
    body: Exchange['body'],
  ): void {
    const failed = (thrown: unknown) => sendError(response, thrown);
    try {
      const principal = gate.principalOf(request);
      const ended = route.handle({ request, response, params, principal, body });
      ended.catch(principal.scopes ? (thrown) => failed(gate.challenged(thrown, request)) : failed);
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

  return { listener, serveAt, upgrade, maxBodyBytes };
}

function badUrl(path: string): AppError {
  return new AppError('INVALID_REQUEST', `The address ${JSON.stringify(path)} is not well formed.`);
}
