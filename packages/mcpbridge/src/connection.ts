import { HEADER } from '@mcpbridge/shared/wire.js';
import { collect, type Incoming, NotReached, type Outgoing, type RawHeaders } from './attempt.js';
import type { BridgeLog } from './bridge-log.js';
import { Credentials } from './credentials.js';
import { type BridgeFailure, bridgeFailure, readRefusal } from './failure.js';
import { randomHex } from './random-hex.js';
import type { BridgeSettings } from './settings.js';
import { pause } from './stop.js';
import { Ways } from './ways.js';

export interface Answer {
  status: number;
  headers: Incoming['headers'];
  stream: Incoming;
  /** The body, read already, when the status is 400 or more. */
  refusal: Buffer | undefined;
}

/** How long an executor that is not there is waited for. */
interface Patience {
  ms: number;
  until: number;
}

const RETRY_MS = 100;
const LEAST_CONNECT_MS = 1000;

/** HTTP to one executor, as one session; waits a bounded time while it restarts. */
export class Connection {
  private readonly credentials: Credentials;
  private readonly ways: Ways;
  private readonly prefix: string;
  private readonly headers: RawHeaders;
  readonly mcpPath: string;
  /** The person has been told that the executor does not answer, or refuses. */
  private complained = false;

  constructor(
    private readonly settings: BridgeSettings,
    private readonly log: BridgeLog,
  ) {
    this.credentials = new Credentials(settings.token);
    this.ways = new Ways(settings.base, settings.socket);
    this.prefix = settings.base.pathname.replace(/\/$/, '');
    this.mcpPath = settings.mcpPath;
    const { sessionId, dialect, tools, trace, project } = settings;
    const named = sessionId
      ? [HEADER.session, sessionId]
      : [HEADER.session, `bridge-${randomHex(16)}`, HEADER.sessionLifetime, 'connection'];
    log.note(`session ${named[1]}`);
    const session = project ? [...named, HEADER.project, encodeURIComponent(project)] : named;
    // A list that an app gave is its own, and is left alone; its calls say their trace one by one.
    this.headers = tools
      ? session
      : [...session, ...(dialect ? [HEADER.dialect, dialect] : []), ...Object.entries(trace ?? {}).flat()];
  }

  /**
   * Answers once the head of the answer is there. Rejects with a BridgeFailure when nobody was reached within
   * `patienceMs`, with BrokenOff when the connection broke later; check first whether it was stopped.
   */
  async send(outgoing: Outgoing, patienceMs = this.settings.connectTimeoutMs): Promise<Answer> {
    const patience = { ms: patienceMs, until: Date.now() + patienceMs };
    let mayRenew = true;
    for (;;) {
      const answer = await readHead(await this.reach(this.complete(outgoing), patience));
      const { status, refusal } = answer;
      if (status === 401 && mayRenew && this.credentials.renew()) {
        mayRenew = false;
      } else if (status === 503 && refusal && isShuttingDown(refusal) && Date.now() < patience.until) {
        await pause(RETRY_MS, outgoing.stop);
      } else {
        return answer;
      }
    }
  }

  /** What a 401 means here: which token was refused, and what to set. */
  refused(): BridgeFailure {
    const message = `${this.settings.base.origin} answered 401. ${this.credentials.advice()}`;
    this.complain(message);
    return bridgeFailure('UNAUTHORIZED', message, 'http');
  }

  private async reach(outgoing: Outgoing, patience: Patience): Promise<Incoming> {
    for (;;) {
      const connectMs = Math.max(patience.until - Date.now(), LEAST_CONNECT_MS);
      const reached = await this.tryAll(outgoing, connectMs);
      if (!(reached instanceof NotReached)) return reached;
      const left = patience.until - Date.now();
      if (!reached.mayPass || left <= 0) throw this.unreachable(reached, patience);
      if (reached.isOutage) {
        const seconds = patience.ms / 1000;
        this.complain(`${this.where} cannot be reached (${reached.message}); trying for ${seconds} s.`);
      }
      await pause(Math.min(RETRY_MS, left), outgoing.stop);
    }
  }

  private async tryAll(outgoing: Outgoing, connectMs: number): Promise<Incoming | NotReached> {
    let failed: NotReached | undefined;
    for (const way of this.ways.now()) {
      try {
        const stream = await way.attempt(outgoing, connectMs);
        this.ways.prefer(way);
        if (stream.status !== 401) this.complained = false;
        return stream;
      } catch (error) {
        if (!(error instanceof NotReached)) throw error;
        failed = error;
      }
    }
    this.ways.forget();
    return failed ?? new NotReached('no way leads there', undefined);
  }

  private complete(outgoing: Outgoing): Outgoing {
    const { token } = this.credentials;
    const authorization = token ? ['Authorization', `Bearer ${token}`] : [];
    const headers = [...this.headers, ...authorization, ...outgoing.headers];
    return { ...outgoing, headers, path: this.prefix + outgoing.path };
  }

  /** Once for each outage. */
  private complain(text: string): void {
    if (!this.complained) this.log.warn(text);
    this.complained = true;
  }

  private unreachable(error: NotReached, patience: Patience): BridgeFailure {
    const within = error.mayPass && patience.ms > 0 ? ` within ${patience.ms / 1000} s` : '';
    return bridgeFailure(
      'EXECUTOR_UNREACHABLE',
      `${this.where} could not be reached${within}: ${error.message}. ` +
        'Start the orchestrator with `npm start`, or set MCP_API_URL to where it runs.',
    );
  }

  private get where(): string {
    const { base, socket } = this.settings;
    return socket ? `${base.origin} (or ${socket})` : base.origin;
  }
}

async function readHead(stream: Incoming): Promise<Answer> {
  const { status, headers } = stream;
  const refusal = status < 400 ? undefined : Buffer.concat(await collect(stream));
  return { status, headers, stream, refusal };
}

/** Such an answer promises that nothing was carried out. */
function isShuttingDown(refusal: Buffer): boolean {
  return readRefusal(503, refusal).code === 'SHUTTING_DOWN';
}
