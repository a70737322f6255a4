import type { JsonObject } from '@mcpbridge/shared/json-rpc.js';

/** What login services that take an address for a client id read at it (`/api/oauth/client.json`). */
export function clientDocument(publicUrl: string): JsonObject {
  return {
    client_id: `${publicUrl}/api/oauth/client.json`,
    client_uri: publicUrl,
    ...ourselves([`${publicUrl}/api/oauth/callback`]),
    token_endpoint_auth_method: 'none',
  };
}

/** What is told of us to every login service. */
export function ourselves(redirectUrls: string[]) {
  return {
    client_name: 'mcpbridge',
    redirect_uris: redirectUrls,
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
  };
}
