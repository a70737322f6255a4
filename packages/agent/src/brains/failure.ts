import { messageOf } from '@mcpbridge/shared/errors.js';
import { isObject } from '@mcpbridge/shared/json-rpc.js';

export type FailureKind =
  | 'throttled'
  | 'overloaded'
  | 'server'
  | 'network'
  | 'cut'
  | 'auth'
  | 'too_long'
  | 'bad_request';

/** Kinds after which the same question may well be answered a moment later. */
const PASSING: ReadonlySet<FailureKind> = new Set(['throttled', 'overloaded', 'server', 'network', 'cut']);

/** Why a model gave no answer. */
export class BrainFailure extends Error {
  constructor(
    readonly kind: FailureKind,
    message: string,
    /** As the provider wishes; undefined: it said nothing. */
    readonly retryAfterMs?: number,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'BrainFailure';
  }

  get isPassing(): boolean {
    return PASSING.has(this.kind);
  }
}

const SENTENCES: Record<FailureKind, string> = {
  throttled: 'takes no more requests for the moment',
  overloaded: 'is overloaded',
  server: 'failed by itself',
  network: 'could not be reached',
  cut: 'broke off in the middle of its answer',
  auth: 'refused the key: check the key of this brain',
  too_long: 'was given more than fits into its window',
  bad_request: 'refused the request',
};

/** What an SDK threw, told apart by the status, then by what it says; `key` is what no message may show. */
export function classify(brain: string, thrown: unknown, key?: string): BrainFailure {
  if (thrown instanceof BrainFailure) return thrown;
  const kind = kindOf(thrown);
  const said = key ? messageOf(thrown).replaceAll(key, '[redacted]') : messageOf(thrown);
  const sentence = `The brain "${brain}" ${SENTENCES[kind]} (${said}).`;
  return new BrainFailure(kind, sentence, retryAfter(thrown), { cause: thrown });
}

export function cutOff(brain: string): BrainFailure {
  return new BrainFailure('cut', `The brain "${brain}" ${SENTENCES.cut}.`);
}

function kindOf(thrown: unknown): FailureKind {
  const status = isObject(thrown) && typeof thrown.status === 'number' ? thrown.status : undefined;
  const words = messageOf(thrown).toLowerCase();
  if (/overloaded/.test(words) || status === 529 || status === 503) return 'overloaded';
  if (status === 429 || /rate.?limit/.test(words)) return 'throttled';
  if (status !== undefined && status >= 500) return 'server';
  if (status === 401 || status === 403) return 'auth';
  if (status === 413 || /context.{0,20}(length|size|window)|too (long|many tokens)|exceeds? the/.test(words))
    return 'too_long';
  if (status !== undefined) return 'bad_request';
  // Errors that come inside a stream have no status of their own.
  if (/api_error|internal|server_error/.test(words)) return 'server';
  return /json|unexpected (end|token)|terminated|premature|aborted|socket hang up/.test(words)
    ? 'cut'
    : 'network';
}

function retryAfter(thrown: unknown): number | undefined {
  const headers = isObject(thrown) ? thrown.headers : undefined;
  if (!(headers instanceof Headers)) return undefined;
  const ms = Number(headers.get('retry-after-ms') ?? Number.NaN);
  if (Number.isFinite(ms)) return ms;
  const seconds = Number(headers.get('retry-after') ?? Number.NaN);
  return Number.isFinite(seconds) ? seconds * 1000 : undefined;
}
