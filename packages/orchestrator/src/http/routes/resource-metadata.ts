import { AppError } from '@mcpbridge/shared/errors.js';
import type { JsonObject } from '@mcpbridge/shared/json-rpc.js';
import type { PlainRoute } from '../routes.js';

/** Where one who has no token reads who gives some (RFC 9728); `metadata` takes the request's own host. */
export function resourceMetadataRoutes(
  metadata: (host: string | undefined) => JsonObject | undefined,
): PlainRoute[] {
  const places = ['', '/mcp', '/mcp/{server}'];
  return places.map((place) => ({
    method: 'GET',
    path: `/.well-known/oauth-protected-resource${place}`,
    summary: 'Which login services give tokens for this server, and with which scopes',
    open: true,
    run({ headers }) {
      const body = metadata(headers.host);
      if (!body)
        throw new AppError(
          'NOT_FOUND',
          'No login service gives tokens for this server: OAUTH_ISSUER is not set.',
        );
      return { body, headers: { 'cache-control': 'max-age=300' } };
    },
  }));
}
