import { resolve } from 'node:path';
import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';
import type { Reading } from './reading.js';
import type { OAuthEntry } from './server-entry.js';

/** Every name that people already use for it. */
const NAMES: Record<string, readonly string[]> = {
  tokenFile: ['token_file', 'tokenFile'],
  clientId: ['client_id', 'clientId'],
  clientSecret: ['client_secret', 'clientSecret'],
  clientMetadataUrl: ['client_metadata_url', 'clientMetadataUrl'],
  issuer: ['issuer'],
  redirectUri: ['redirect_uri', 'redirectUri'],
  privateKey: ['private_key', 'privateKey'],
  algorithm: ['algorithm'],
};

/** The `oauth` of an entry; undefined where there is none. */
export function readOAuth({ raw, context, faults, fill }: Reading): OAuthEntry | undefined {
  const given = raw.oauth;
  if (!isObject(given)) return undefined;
  const texts: Record<string, string> = {};
  for (const [field, names] of Object.entries(NAMES)) {
    const name = names.find((candidate) => given[candidate] !== undefined);
    if (name === undefined) continue;
    const value = given[name];
    if (typeof value === 'string') texts[field] = fill(`oauth.${name}`, value);
    else faults.push(`"oauth.${name}" must be a text.`);
  }
  const scope = scopeOf(given, faults);
  const entry: OAuthEntry = {
    ...texts,
    ...(scope === undefined ? {} : { scope: fill('oauth.scope', scope) }),
    per: oneOf('per', given.per, ['server', 'principal'], faults),
    grant: oneOf('grant', given.grant, ['authorization_code', 'client_credentials'], faults),
  };
  if (entry.tokenFile !== undefined) entry.tokenFile = resolve(context.folder, entry.tokenFile);
  if (entry.grant === 'client_credentials') faults.push(...machineFaults(entry));
  if (entry.clientMetadataUrl !== undefined && !/^https:\/\/[^/]+\/./.test(entry.clientMetadataUrl))
    faults.push('"oauth.client_metadata_url" must be an https address with a path.');
  return entry;
}

function machineFaults({ clientId, clientSecret, privateKey, per }: OAuthEntry): string[] {
  const faults: string[] = [];
  if (clientId === undefined || (clientSecret === undefined && privateKey === undefined))
    faults.push(
      '"oauth.grant" is "client_credentials", which needs "client_id" and one of "client_secret" and "private_key".',
    );
  if (per === 'principal')
    faults.push('"oauth.per" is "principal", but with "client_credentials" nobody signs in.');
  return faults;
}

function scopeOf({ scope, scopes }: JsonObject, faults: string[]): string | undefined {
  const given = scope ?? scopes;
  if (given === undefined) return undefined;
  if (typeof given === 'string') return given;
  if (Array.isArray(given) && given.every((one) => typeof one === 'string')) return given.join(' ');
  faults.push('"oauth.scope" must be a text, or a list of texts.');
  return undefined;
}

function oneOf<Word extends string>(
  name: string,
  given: unknown,
  words: readonly [Word, ...Word[]],
  faults: string[],
): Word {
  const found = words.find((word) => word === given);
  if (given !== undefined && found === undefined)
    faults.push(
      `"oauth.${name}" is ${JSON.stringify(given)}; there are ${words.map((word) => `"${word}"`).join(' and ')}.`,
    );
  return found ?? words[0];
}
