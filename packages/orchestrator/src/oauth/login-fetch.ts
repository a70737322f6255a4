import { AppError, messageOf } from '@mcpbridge/shared/errors.js';
import { isObject } from '@mcpbridge/shared/json-rpc.js';
import { isInner, openOutgoing } from '../outgoing/outgoing.js';

/** Documents and tokens are far smaller. */
const MAX_BYTES = 1024 * 1024;

export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

interface LoginServer {
  server: string;
  url: string;
  allowPrivate?: boolean | undefined;
}

/**
 * For what is asked of the login service that a server names: http(s) alone, in time, and a failure says who could not be
 * reached. A server that is not of this machine or its networks cannot send us into them.
 */
export function loginFetch({ server, url: address, allowPrivate = false }: LoginServer, ms = 10_000): Fetch {
  const isInside = allowPrivate || isInner(address);
  const { fetch: send } = openOutgoing({
    who: `The login service of server "${server}"`,
    mayBePrivate: () => isInside,
    remedy: 'set "allowPrivate": true in the entry of the server if that is meant.',
  });
  return async (url, init = {}) => {
    const address = new URL(url);
    if (!/^https?:$/.test(address.protocol)) {
      const sentence = `Server "${server}" names ${JSON.stringify(address.protocol)} as its login service; only https and http are asked.`;
      throw new AppError('PROVIDER_ERROR', sentence);
    }
    const late = AbortSignal.timeout(ms);
    const signal = init.signal ? AbortSignal.any([init.signal, late]) : late;
    try {
      return await whole(await send(address, { ...init, signal }));
    } catch (cause) {
      if (cause instanceof AppError) throw cause;
      const what = late.aborted
        ? `did not answer within ${ms / 1000} s`
        : `cannot be reached (${codeOf(cause)})`;
      throw new AppError(
        'SIGN_IN_UNAVAILABLE',
        `The login service of server "${server}" at ${address.origin} ${what}.`,
        {
          cause,
          details: { server },
        },
      );
    }
  };
}

/** Read to its end, within the time; as the SDK looks for the class of its own Node, it gets one of that. */
async function whole(response: Response): Promise<Response> {
  const { status, statusText, headers } = response;
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of response.body ?? []) {
    bytes += part.length;
    if (bytes > MAX_BYTES) throw new Error(`it sent more than ${MAX_BYTES} bytes`);
    parts.push(part);
  }
  const plain = new Headers([...headers]);
  // It has been decoded.
  for (const name of ['content-encoding', 'content-length']) plain.delete(name);
  return new Response(bytes === 0 ? null : Buffer.concat(parts), { status, statusText, headers: plain });
}

function codeOf(thrown: unknown): string {
  for (let at: unknown = thrown; isObject(at); at = at.cause) if (typeof at.code === 'string') return at.code;
  return messageOf(thrown);
}
