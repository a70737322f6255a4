import { isObject } from '@mcpbridge/shared/json-rpc.js';
import type { OAuthEntry } from '../config/server-entry.js';
import type { AccountRecord } from './account-record.js';
import type { Fetch } from './login-fetch.js';

/** Tells the login service that the tokens are not wanted any more (RFC 7009), where it can be told. */
export async function revoke(
  { tokens, client, discovery }: AccountRecord,
  oauth: OAuthEntry,
  fetch: Fetch,
): Promise<void> {
  const metadata = isObject(discovery?.authorizationServerMetadata)
    ? discovery.authorizationServerMetadata
    : {};
  const { revocation_endpoint: address } = metadata;
  const token = tokens?.refresh_token ?? tokens?.access_token;
  if (typeof address !== 'string' || !token) return;
  const id = oauth.clientId ?? client?.client_id;
  const secret = oauth.clientSecret ?? client?.client_secret;
  const body = new URLSearchParams({ token, client_id: String(id ?? '') });
  const headers = new Headers({ 'content-type': 'application/x-www-form-urlencoded' });
  if (typeof secret === 'string') {
    body.delete('client_id');
    const pair = `${encodeURIComponent(String(id))}:${encodeURIComponent(secret)}`;
    headers.set('authorization', `Basic ${Buffer.from(pair).toString('base64')}`);
  }
  await fetch(address, { method: 'POST', headers, body });
}
