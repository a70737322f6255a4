/** Where a failure arose, from the agent inwards. */
export type Layer =
  | 'client'
  | 'bridge'
  | 'http'
  | 'session'
  | 'catalog'
  | 'call'
  | 'upstream'
  | 'tool'
  | 'config';

interface ErrorKind {
  /** HTTP status of the answer that reports it. */
  status: number;
  layer: Layer;
  /** True when the same request may succeed later, and nothing was carried out. */
  retryable: boolean;
}

/** Every failure that this product reports by itself; docs/errors.md explains each. */
export const ERROR_TABLE = {
  INVALID_REQUEST: { status: 400, layer: 'http', retryable: false },
  INVALID_ARGUMENTS: { status: 400, layer: 'call', retryable: false },
  CONFIG_INVALID: { status: 400, layer: 'config', retryable: false },
  UNAUTHORIZED: { status: 401, layer: 'http', retryable: false },
  FORBIDDEN: { status: 403, layer: 'http', retryable: false },
  FORBIDDEN_ORIGIN: { status: 403, layer: 'http', retryable: false },
  TOOL_NOT_ALLOWED: { status: 403, layer: 'session', retryable: false },
  TOOL_CHANGED: { status: 403, layer: 'catalog', retryable: false },
  NOT_APPROVED: { status: 403, layer: 'call', retryable: false },
  NOT_FOUND: { status: 404, layer: 'http', retryable: false },
  SESSION_NOT_FOUND: { status: 404, layer: 'session', retryable: false },
  UNKNOWN_SERVER: { status: 404, layer: 'catalog', retryable: false },
  UNKNOWN_TOOL: { status: 404, layer: 'catalog', retryable: false },
  METHOD_NOT_ALLOWED: { status: 405, layer: 'http', retryable: false },
  CONFLICT: { status: 409, layer: 'http', retryable: false },
  BODY_TOO_LARGE: { status: 413, layer: 'http', retryable: false },
  LIMIT_REACHED: { status: 429, layer: 'session', retryable: true },
  CALL_CANCELLED: { status: 499, layer: 'call', retryable: false },
  INTERNAL: { status: 500, layer: 'http', retryable: false },
  PROVIDER_ERROR: { status: 502, layer: 'upstream', retryable: false },
  RESULT_TOO_LARGE: { status: 502, layer: 'upstream', retryable: false },
  CONNECTION_LOST: { status: 502, layer: 'upstream', retryable: false },
  PROVIDER_UNAVAILABLE: { status: 503, layer: 'upstream', retryable: true },
  TOO_MANY_PROCESSES: { status: 503, layer: 'upstream', retryable: true },
  SHUTTING_DOWN: { status: 503, layer: 'http', retryable: true },
  CALL_TIMEOUT: { status: 504, layer: 'call', retryable: false },
  TOOL_FAILED: { status: 200, layer: 'tool', retryable: false },
  EXECUTOR_UNREACHABLE: { status: 503, layer: 'bridge', retryable: true },
  CLIENT_FAILED: { status: 502, layer: 'client', retryable: false },
} as const satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof ERROR_TABLE;

/** The `error` member of an answer (DESIGN.md section 4). */
export interface ErrorBody {
  code: ErrorCode;
  message: string;
  layer: Layer;
  retryable: boolean;
  details?: unknown;
}

interface AppErrorOptions {
  cause?: unknown;
  details?: unknown;
  /** Overrides the table, for a failure that is known not to have started anything. */
  retryable?: boolean;
}

/** The one error class: a code from the table and a sentence that says what happened to whom. */
export class AppError extends Error {
  readonly details: unknown;
  readonly retryable: boolean;

  constructor(
    readonly code: ErrorCode,
    message: string,
    options: AppErrorOptions = {},
  ) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    this.name = 'AppError';
    this.details = options.details;
    this.retryable = options.retryable ?? ERROR_TABLE[code].retryable;
  }

  get status(): number {
    return ERROR_TABLE[this.code].status;
  }

  toBody(): ErrorBody {
    const { code, message, retryable, details } = this;
    const body: ErrorBody = { code, message, layer: ERROR_TABLE[code].layer, retryable };
    return details === undefined ? body : { ...body, details };
  }
}

/** Wraps what was thrown by anything else; an AppError stays itself. */
export function toAppError(thrown: unknown, code: ErrorCode = 'INTERNAL'): AppError {
  if (thrown instanceof AppError) return thrown;
  return new AppError(code, messageOf(thrown), { cause: thrown });
}

/** A failure as a model reads it: the sentence, then code and layer. */
export function failureText(failure: { message: string; code: string; layer: string }): string {
  return `${failure.message}\n[code: ${failure.code}, layer: ${failure.layer}]`;
}

export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
