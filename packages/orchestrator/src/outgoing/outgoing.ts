import { lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { AppError } from '@mcpbridge/shared/errors.js';
import { Agent, buildConnector, type RequestInit as UndiciInit, fetch as undiciFetch } from 'undici';
import { kindOfAddress } from './addresses.js';

export interface OutgoingRules {
  /** Begins the sentence of a refusal: `Server "notes"`. */
  who: string;
  /** May this host, a name or an address without brackets in lower case, be this machine or one of its networks? */
  mayBePrivate(host: string): boolean;
  /** Ends that sentence: what to do if a private address is meant. */
  remedy: string;
}

export interface Outgoing {
  /**
   * The standard's `fetch`. Every connection, those of redirects included, goes to an address that was looked up and judged
   * before; there are no time limits. Rejects with PROVIDER_UNAVAILABLE where it may not go, and as `fetch` does otherwise.
   */
  fetch(url: string | URL, init?: RequestInit): Promise<Response>;
  /** Ends its connections at once. */
  close(): Promise<void>;
}

/** The way out for every request that is made for somebody: to public addresses, and to private ones that the rules let through. */
export function openOutgoing(rules: OutgoingRules): Outgoing {
  const connect = buildConnector({ lookup: judgedLookup(rules) });
  const agent = new Agent({
    headersTimeout: 0,
    bodyTimeout: 0,
    connect(options, callback) {
      // Addresses are not looked up. Odd spellings, 0x7f.1 and the like, have become plain ones in the URL.
      const host = hostOf(options.hostname);
      const refusal = isIP(host) ? refusalOf(rules, host, host) : undefined;
      if (refusal) callback(refusal, null);
      else connect(options, callback);
    },
  });
  return {
    async fetch(url, init = {}) {
      const headers = [...new Headers(init.headers)];
      try {
        const response = await undiciFetch(url, { ...(init as UndiciInit), headers, dispatcher: agent });
        return response as unknown as Response;
      } catch (error) {
        throw error instanceof TypeError && error.cause instanceof AppError ? error.cause : error;
      }
    },
    close: () => agent.destroy(),
  };
}

/**
 * Whether what somebody wrote as `address` may be private: with `allowPrivate` all may, else its own host, where it is `localhost`
 * or an address: that cannot become another one, and a server at it reaches its machine in any case.
 */
export function privateAsWritten(address: string | URL, allowPrivate = false): (host: string) => boolean {
  const written = hostOf(new URL(address).hostname);
  const isPlain = isIP(written) !== 0 || /(^|\.)localhost$/.test(written);
  return (host) => allowPrivate || (isPlain && host === written);
}

/** Is a private address, or `localhost`, written there? */
export function isInner(address: string): boolean {
  const host = hostOf(new URL(address).hostname);
  return isIP(host) === 0 ? /(^|\.)localhost$/.test(host) : kindOfAddress(host) === 'private';
}

/** Of a URL: without the brackets of IPv6. */
export function hostOf(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '').toLowerCase();
}

/** Answers only addresses that may be dialled, so what is dialled is what was judged. */
function judgedLookup(rules: OutgoingRules): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, found) => {
      if (error) return callback(error, '');
      const host = hostname.toLowerCase();
      const good = found.filter(({ address }) => !refusalOf(rules, host, address));
      const [first] = good;
      if (!first) callback(refusalOf(rules, host, found[0]?.address ?? 'without one') ?? null, '');
      else if (options.all) callback(null, good);
      else callback(null, first.address, first.family);
    });
  };
}

function refusalOf(
  { who, mayBePrivate, remedy }: OutgoingRules,
  host: string,
  address: string,
): AppError | undefined {
  const kind = kindOfAddress(address);
  if (kind === 'public' || (kind === 'private' && mayBePrivate(host))) return undefined;
  const at = host === address ? host : `${host} (${address})`;
  const why =
    kind === 'private'
      ? `${at} is not public; ${remedy}`
      : `${at} is none where servers are: it is link-local, of a metadata service, translated into another one, or reserved.`;
  return new AppError('PROVIDER_UNAVAILABLE', `${who} is not called: the address ${why}`, {
    retryable: false,
  });
}
