import { AppError, messageOf } from '@mcpbridge/shared/errors.js';
import {
  AuthorizationServerMismatchError,
  InsecureTokenEndpointError,
  IssuerMismatchError,
  OAuthError,
  OAuthErrorCode,
  RegistrationRejectedError,
} from '@modelcontextprotocol/client';

/** Errors of a login service after which only a person can help. */
const OVER: string[] = [
  OAuthErrorCode.InvalidGrant,
  OAuthErrorCode.InvalidClient,
  OAuthErrorCode.UnauthorizedClient,
];
const PASSES: string[] = [OAuthErrorCode.ServerError, OAuthErrorCode.TemporarilyUnavailable];

/** What went wrong at a login service, as a sentence; nothing is told of a token, nor of an answer that may be forged. */
export function loginFailure(server: string, thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown;
  const failed = (
    code: 'SIGN_IN_NEEDED' | 'SIGN_IN_UNAVAILABLE' | 'PROVIDER_ERROR' | 'CONFIG_INVALID',
    text: string,
  ) => new AppError(code, `Server "${server}": ${text}`, { cause: thrown, details: { server } });
  if (thrown instanceof IssuerMismatchError || thrown instanceof AuthorizationServerMismatchError) {
    return failed(
      'PROVIDER_ERROR',
      'the login service does not say that it is the one that was asked (wrong issuer); nothing was sent to it.',
    );
  }
  if (thrown instanceof InsecureTokenEndpointError)
    return failed('PROVIDER_ERROR', 'its login service takes tokens over http, without encryption.');
  if (thrown instanceof RegistrationRejectedError)
    return failed(
      'CONFIG_INVALID',
      `its login service did not register us (HTTP ${thrown.status}). ${OWN_ID}`,
    );
  if (thrown instanceof OAuthError) {
    if (OVER.includes(thrown.code))
      return failed(
        'SIGN_IN_NEEDED',
        `its login service no longer accepts our sign-in (${thrown.code}): sign in again.`,
      );
    if (PASSES.includes(thrown.code))
      return failed('SIGN_IN_UNAVAILABLE', `its login service has a fault of its own (${thrown.code}).`);
    return failed('PROVIDER_ERROR', `its login service refused (${thrown.code}).`);
  }
  const text = messageOf(thrown);
  if (text.includes('does not support dynamic client registration'))
    return failed('CONFIG_INVALID', `its login service registers nobody by itself. ${OWN_ID}`);
  if (thrown instanceof Error && /^(Timeout|Abort)Error$/.test(thrown.name))
    return failed('SIGN_IN_UNAVAILABLE', 'its login service did not answer in time.');
  return failed('PROVIDER_ERROR', `signing in is not possible: ${text}`);
}

const OWN_ID = 'Register there by hand and set "oauth": {"client_id": "…"} in the entry of the server.';
