import type { ServerResponse } from 'node:http';
import { AppError, toAppError } from '@mcpbridge/shared/errors.js';
import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';
import type { Accounts } from '../../oauth/accounts.js';
import type { PlainRoute, RouteInput } from '../routes.js';

interface OAuthDeps {
  accounts: Accounts;
  /** What login services may read of us. */
  clientDocument(): JsonObject;
}

const serverBody: JsonObject = {
  type: 'object',
  properties: { server: { type: 'string' }, scope: { type: 'string' } },
  required: ['server'],
};

/** Signing in at upstream servers. */
export function oauthRoutes({ accounts, clientDocument }: OAuthDeps): PlainRoute[] {
  return [
    {
      method: 'POST',
      path: '/api/oauth/start',
      summary: 'Begin a sign-in at a server: answers the address that a browser has to go to',
      body: serverBody,
      forKeys: true,
      async run({ body, principal }) {
        const server = serverIn(body);
        await mayChange(accounts, server, principal);
        const scope = isObject(body) && typeof body.scope === 'string' ? body.scope : undefined;
        const { url, state } = await accounts.start(server, principal.id, principal.isAdmin, scope);
        return { body: { server, authorization_url: url, state } };
      },
    },
    {
      method: 'GET',
      path: '/api/oauth/callback',
      summary: 'Where login services send the browser back to',
      query: {
        code: 'of the login service',
        state: 'of the sign-in',
        iss: 'which login service it is',
        error: 'why not',
      },
      open: true,
      run: ({ query }) => ({ write: (response) => void showEnd(accounts, answerIn(query), response) }),
    },
    {
      method: 'POST',
      path: '/api/oauth/callback',
      summary: 'The same from a machine whose browser is elsewhere: the whole address that it ended at',
      body: { type: 'object', properties: { url: { type: 'string' } }, required: ['url'] },
      forKeys: true,
      async run({ body, principal }) {
        const url = isObject(body) ? body.url : undefined;
        if (typeof url !== 'string' || !URL.canParse(url))
          throw new AppError(
            'INVALID_REQUEST',
            'Send {"url": "…"} with the whole address that the browser ended at.',
          );
        return {
          body: {
            server: await accounts.finish(new URL(url).searchParams, principal.id),
            status: 'signed_in',
          },
        };
      },
    },
    {
      method: 'GET',
      path: '/api/oauth/status',
      summary: 'Who is signed in where, and why not',
      query: { server: 'that one alone' },
      forKeys: true,
      async run({ query: { server }, principal }) {
        if (server === undefined)
          return { body: { servers: (await accounts.allStatus(principal.id)).map(shown) } };
        const status = await accounts.status(server, principal.id);
        if (!status) throw new AppError('NOT_FOUND', `At server "${server}" nobody signs in.`);
        return { body: shown(status) };
      },
    },
    {
      method: 'POST',
      path: '/api/oauth/logout',
      summary: 'Forget the tokens of a server, and tell its login service',
      body: serverBody,
      forKeys: true,
      async run({ body, principal }) {
        const server = serverIn(body);
        await mayChange(accounts, server, principal);
        await accounts.logout(server, principal.id);
        return { body: { server, status: 'signed_out' } };
      },
    },
    {
      method: 'GET',
      path: '/api/oauth/client.json',
      summary: 'Our client metadata document: what login services may know of us',
      open: true,
      run: () => ({ body: clientDocument() }),
    },
  ];
}

/** An account that all use is the operator's; one's own is one's own. */
async function mayChange(
  accounts: Accounts,
  server: string,
  { id, isAdmin }: RouteInput['principal'],
): Promise<void> {
  const status = await accounts.status(server, id);
  if (status && status.per === 'server' && !isAdmin)
    throw new AppError(
      'FORBIDDEN',
      `The account at server "${server}" is that of all its users: only the owner signs in.`,
    );
}

function serverIn(body: unknown): string {
  if (isObject(body) && typeof body.server === 'string') return body.server;
  throw new AppError('INVALID_REQUEST', 'Send {"server": "…"} with the name of a server.');
}

function answerIn(query: Record<string, string | undefined>): URLSearchParams {
  const answer = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) answer.set(name, value);
  return answer;
}

function shown({ expiresAt, ...status }: Awaited<ReturnType<Accounts['allStatus']>>[number]): JsonObject {
  return { ...status, ...(expiresAt === undefined ? {} : { expires_at: new Date(expiresAt).toISOString() }) };
}

async function showEnd(accounts: Accounts, answer: URLSearchParams, response: ServerResponse): Promise<void> {
  try {
    const server = await accounts.finish(answer, undefined);
    page(response, 200, `You are signed in at "${server}". You can close this page.`);
  } catch (thrown) {
    const error = toAppError(thrown);
    page(
      response,
      error.status,
      error.code === 'INTERNAL' ? 'The sign-in failed; the log says why.' : error.message,
    );
  }
}

function page(response: ServerResponse, status: number, sentence: string): void {
  const text = sentence.replaceAll(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy':
      "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  });
  response.end(
    `<!doctype html><html lang="en"><meta charset="utf-8"><title>Sign-in</title><p>${text}</p><p><a href="/servers">To the dashboard</a></p></html>\n`,
  );
}
