import { AppError, toAppError } from '@mcpbridge/shared/errors.js';
import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';
import type { Logins } from '../../auth/login.js';
import type { OidcLogin } from '../../auth/oidc-login.js';
import type { PlainRoute } from '../routes.js';

const schema: JsonObject = {
  type: 'object',
  properties: { code: { type: 'string' }, token: { type: 'string' } },
  additionalProperties: false,
};

/** How the owner's browser comes in and leaves. */
export function loginRoutes(logins: Logins, oidc: OidcLogin | undefined): PlainRoute[] {
  return [
    ...(oidc ? oidcRoutes(logins, oidc) : []),
    {
      method: 'GET',
      path: '/api/login/ways',
      summary: 'How a browser may come in besides the printed link',
      open: true,
      run: () => ({ body: { oidc: oidc !== undefined } }),
    },
    {
      method: 'GET',
      path: '/login',
      summary: 'The printed link: its code, good once, becomes a cookie; then on to the page',
      query: { code: 'of the link' },
      open: true,
      run: ({ query }) => ({
        write(response) {
          try {
            const cookie = logins.enter(query.code ?? '');
            response.writeHead(303, { location: '/', 'set-cookie': cookie, ...PRIVATE }).end();
          } catch {
            // The page says what to do.
            response.writeHead(303, { location: '/?login=void', ...PRIVATE }).end();
          }
        },
      }),
    },
    {
      method: 'POST',
      path: '/api/login',
      summary: 'A code or the token becomes a cookie',
      body: schema,
      open: true,
      run({ body }) {
        const given = isObject(body) ? (body.code ?? body.token) : undefined;
        if (typeof given !== 'string')
          throw new AppError('INVALID_REQUEST', 'Send {"code": "…"} or {"token": "…"}.');
        return { body: { status: 'in' }, headers: { 'set-cookie': logins.enter(given), ...PRIVATE } };
      },
    },
    {
      method: 'GET',
      path: '/api/login',
      summary: 'Who is asking; 401 when it is nobody',
      run: ({ principal: { id, isPage = false } }) => ({ body: { principal: id, page: isPage } }),
    },
    {
      method: 'POST',
      path: '/api/login/links',
      summary: 'A new link for a browser, good once',
      run: () => ({ status: 201, body: { path: `/login?code=${logins.code()}` } }),
    },
    {
      method: 'POST',
      path: '/api/logout',
      summary: 'Takes the cookie away',
      run: ({ headers }) => ({
        body: { status: 'out' },
        headers: { 'set-cookie': logins.leave(headers.cookie), ...PRIVATE },
      }),
    },
  ];
}

/** For people whom a login service knows. */
function oidcRoutes(logins: Logins, oidc: OidcLogin): PlainRoute[] {
  return [
    {
      method: 'GET',
      path: '/login/oidc',
      summary: 'Sends a browser to the login service',
      open: true,
      async run() {
        const { location, cookie } = await oidc.begin();
        return {
          write: (response) =>
            void response.writeHead(303, { location, 'set-cookie': cookie, ...PRIVATE }).end(),
        };
      },
    },
    {
      method: 'GET',
      path: '/login/oidc/callback',
      summary: 'Where the login service sends the browser back to; then on to the page',
      query: { code: 'of the login service', state: 'of the login' },
      open: true,
      async run({ query, headers }) {
        const answer = new URLSearchParams();
        for (const [name, value] of Object.entries(query)) if (value !== undefined) answer.set(name, value);
        const principal = await oidc.finish(answer, headers.cookie).catch((error) => toAppError(error));
        const cookie = principal instanceof AppError ? undefined : logins.admit(principal.id);
        const reason =
          principal instanceof AppError && principal.code === 'INSUFFICIENT_SCOPE' ? 'rights' : 'void';
        return {
          write: (response) =>
            void response
              .writeHead(303, {
                location: cookie === undefined ? `/?login=${reason}` : '/',
                ...(cookie === undefined ? {} : { 'set-cookie': cookie }),
                ...PRIVATE,
              })
              .end(),
        };
      },
    },
  ];
}

const PRIVATE = { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' };
