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
  | 'workspace'
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
  INSUFFICIENT_SCOPE: { status: 403, layer: 'http', retryable: false },
  FORBIDDEN: { status: 403, layer: 'http', retryable: false },
  FORBIDDEN_ORIGIN: { status: 403, layer: 'http', retryable: false },
  TOOL_NOT_ALLOWED: { status: 403, layer: 'session', retryable: false },
  TOOL_CHANGED: { status: 403, layer: 'catalog', retryable: false },
  NOT_APPROVED: { status: 403, layer: 'call', retryable: false },
  PATH_NOT_ALLOWED: { status: 403, layer: 'workspace', retryable: false },
  APPROVAL_PENDING: { status: 202, layer: 'call', retryable: true },
  NOT_FOUND: { status: 404, layer: 'http', retryable: false },
  SESSION_NOT_FOUND: { status: 404, layer: 'session', retryable: false },
  UNKNOWN_SERVER: { status: 404, layer: 'catalog', retryable: false },
  UNKNOWN_TOOL: { status: 404, layer: 'catalog', retryable: false },
  METHOD_NOT_ALLOWED: { status: 405, layer: 'http', retryable: false },
  CONFLICT: { status: 409, layer: 'http', retryable: false },
  DIFF_NOT_APPLIED: { status: 409, layer: 'workspace', retryable: false },
  PRECONDITION_FAILED: { status: 412, layer: 'workspace', retryable: false },
  BODY_TOO_LARGE: { status: 413, layer: 'http', retryable: false },
  RANGE_NOT_SATISFIABLE: { status: 416, layer: 'workspace', retryable: false },
  LIMIT_REACHED: { status: 429, layer: 'session', retryable: true },
  CALL_CANCELLED: { status: 499, layer: 'call', retryable: false },
  INTERNAL: { status: 500, layer: 'http', retryable: false },
  PROVIDER_ERROR: { status: 502, layer: 'upstream', retryable: false },
  RESULT_TOO_LARGE: { status: 502, layer: 'upstream', retryable: false },
  CONNECTION_LOST: { status: 502, layer: 'upstream', retryable: false },
  PROVIDER_UNAVAILABLE: { status: 503, layer: 'upstream', retryable: true },
  SIGN_IN_NEEDED: { status: 424, layer: 'upstream', retryable: false },
  SIGN_IN_UNAVAILABLE: { status: 503, layer: 'upstream', retryable: true },
  TOO_MANY_PROCESSES: { status: 503, layer: 'upstream', retryable: true },
  WORKSPACE_UNAVAILABLE: { status: 503, layer: 'workspace', retryable: true },
  SANDBOX_UNAVAILABLE: { status: 501, layer: 'workspace', retryable: false },
  SHUTTING_DOWN: { status: 503, layer: 'http', retryable: true },
  OUTCOME_UNKNOWN: { status: 502, layer: 'call', retryable: false },
  CALL_TIMEOUT: { status: 504, layer: 'call', retryable: false },
  NO_SPACE: { status: 507, layer: 'workspace', retryable: false },
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
  /** Of the HTTP answer that reports it. */
  headers?: Record<string, string>;
}

/** The one error class: a code from the table and a sentence that says what happened to whom. */
export class AppError extends Error {
  readonly details: unknown;
  readonly retryable: boolean;
  readonly headers: Record<string, string> | undefined;

  constructor(
    readonly code: ErrorCode,
    message: string,
    options: AppErrorOptions = {},
  ) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    this.name = 'AppError';
    this.details = options.details;
    this.headers = options.headers;
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
