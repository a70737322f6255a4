import type { CancelSignal } from '@mcpbridge/shared/cancel.js';
import { AppError, messageOf } from '@mcpbridge/shared/errors.js';
import { timeOrderedId } from '@mcpbridge/shared/ids.js';
import type { JsonObject } from '@mcpbridge/shared/json-rpc.js';
import { redactByKey } from '@mcpbridge/shared/redact.js';
import type { Hide } from '@mcpbridge/shared/secrets.js';
import type { Log } from '../log.js';
import type { CallListener } from '../providers/provider.js';
import type { DecisionPage, DecisionQuery, DecisionStore } from '../store/decision-store.js';
import type { ParkedProposal, ProposalStore } from '../store/proposal-store.js';
import { type Remember, Remembered } from './remembered.js';
import { unblanked } from './unblanked.js';

/** A call that waits for a person's yes, or a question that waits for their words. */
export interface Proposal {
  id: string;
  kind: 'call' | 'question';
  callId?: string;
  principal: string;
  sessionId: string;
  client?: string;
  server: string;
  tool: string;
  /** Of the call; of a question its text and options. */
  arguments: JsonObject;
  /** Milliseconds since the epoch. */
  createdAt: number;
  expiresAt: number;
}

export interface Decision {
  accept: boolean;
  /** For whoever called; of a question the answer. */
  note?: string;
  /** Who decided. */
  by?: string;
  /** In the place of those that were proposed. */
  arguments?: JsonObject;
  /** Of a yes: for which later calls of the session it holds, too. */
  remember?: Remember;
}

export type ProposalState = 'waiting' | 'accepted' | 'rejected' | 'expired' | 'withdrawn';
type ProposalListener = (proposal: Proposal, state: ProposalState, by: string | undefined) => void;

export type Asked = Omit<Proposal, 'id' | 'createdAt' | 'expiresAt'>;

/** Clients that asked for progress hear that often that the call still waits. */
const REMIND_EVERY_MS = 5000;
const EXPIRY_CHECK_MS = 1000;
/** Of a proposal's arguments, in the list of decisions. */
const KEPT_CHARACTERS = 2000;
/** What a timer can do, 24 days. */
const LONGEST_MS = 2 ** 31 - 1;

interface ApprovalOptions {
  store: ProposalStore;
  decisions: DecisionStore;
  /** 0: as late as can be. */
  expiresAfterMs: number;
  hide: Hide;
  log: Pick<Log, 'warn'>;
}

interface Waiting {
  proposal: Proposal;
  decide(decision: Decision | AppError): void;
}

/**
 * The one queue of what waits for a person, in the order in which it came: calls whose callers hold on, and parked ones
 * whose callers went off and ask again, which outlive this process.
 */
export class Approvals {
  private readonly waiting = new Map<string, Waiting>();
  private readonly listeners: ProposalListener[] = [];
  private readonly onDecided = new Set<(sessionId: string) => void>();
  private readonly store: ProposalStore;
  private readonly expiresAfterMs: number;
  private sweep: NodeJS.Timeout | undefined;

  private constructor(
    private readonly options: ApprovalOptions,
    private readonly remembered: Remembered,
  ) {
    this.store = options.store;
    this.expiresAfterMs = Math.min(options.expiresAfterMs || LONGEST_MS, LONGEST_MS);
    this.watchExpiry();
  }

  static async open(options: ApprovalOptions): Promise<Approvals> {
    return new Approvals(options, await Remembered.open(options.decisions));
  }

  /** Called when one begins to wait and when it ceases to. */
  onChange(listener: ProposalListener): void {
    this.listeners.push(listener);
  }

  async list(): Promise<Proposal[]> {
    const held = [...this.waiting.values()].map(({ proposal }) => proposal);
    const parked = (await this.store.waiting()).map(shownAsCall);
    return [...held, ...parked].sort((a, b) => a.createdAt - b.createdAt);
  }

  async get(id: string): Promise<Proposal | undefined> {
    const held = this.waiting.get(id)?.proposal;
    if (held) return held;
    const parked = await this.store.get(id);
    return parked?.status === 'waiting' ? shownAsCall(parked) : undefined;
  }

  decisions(query: DecisionQuery): Promise<DecisionPage> {
    return this.options.decisions.page(query);
  }

  /** What was approved for its later calls ends with a session. */
  forgetSession(sessionId: string): Promise<void> {
    return this.remembered.forget(sessionId);
  }

  /** Hears of the session whose parked call was decided or is too late. */
  whenDecided(listener: (sessionId: string) => void): void {
    this.onDecided.add(listener);
  }

  /**
   * False when no such proposal waits any more: the first decision counts.
   * @throws INVALID_REQUEST for edited arguments with a blank where the proposed ones have no secret.
   */
  async decide(id: string, given: Decision): Promise<boolean> {
    const held = this.waiting.get(id);
    if (held) {
      const decision = withSecretsOf(held.proposal, given, this.options.hide);
      this.waiting.delete(id);
      held.decide(decision);
      await this.remember(held.proposal, decision);
      return true;
    }
    const parked = await this.store.get(id);
    if (!parked || parked.expiresAt <= Date.now()) return false;
    const decision = withSecretsOf(parked, given, this.options.hide);
    const status = decision.accept ? 'accepted' : 'rejected';
    const isFirst = await this.store.decide(id, status, decision.note, decision.arguments);
    if (!isFirst) return false;
    await this.remember(parked, decision);
    this.decided(parked, status, decision.by, decision.note);
    return true;
  }

  /** Waits. @throws NOT_APPROVED at a no or when nobody answers in time, or what `signal` was aborted with. */
  async ask(call: Asked, signal: CancelSignal, listener?: CallListener): Promise<Decision> {
    if (call.kind === 'call' && this.remembered.covers(call)) return { accept: true };
    const createdAt = Date.now();
    const proposal = { ...call, id: timeOrderedId(), createdAt, expiresAt: createdAt + this.expiresAfterMs };
    const { tool } = call;
    let reminders = 0;
    const remind = () =>
      listener?.progress?.({ progress: ++reminders, message: `Waiting for a person to approve "${tool}"` });
    const reminding = setInterval(remind, REMIND_EVERY_MS);
    let expiring: NodeJS.Timeout | undefined;
    let onAbort = () => {};
    let state: ProposalState = 'withdrawn';
    let by: string | undefined;
    let note: string | undefined;
    this.tell(proposal, 'waiting');
    try {
      remind();
      const decision = await new Promise<Decision | AppError>((decide) => {
        this.waiting.set(proposal.id, { proposal, decide });
        expiring = setTimeout(() => decide(tooLate(tool)), this.expiresAfterMs);
        onAbort = () => decide(new AppError('CALL_CANCELLED', 'The call was cancelled while it waited.'));
        signal.addEventListener('abort', onAbort);
      });
      if (decision instanceof AppError) {
        if (decision.code === 'NOT_APPROVED') state = 'expired';
        throw decision;
      }
      ({ by, note } = decision);
      state = decision.accept ? 'accepted' : 'rejected';
      if (!decision.accept) throw refused(tool, note);
      return decision;
    } finally {
      clearInterval(reminding);
      clearTimeout(expiring);
      signal.removeEventListener('abort', onAbort);
      this.waiting.delete(proposal.id);
      this.tell(proposal, state, by, note);
    }
  }

  /** Does not wait: @throws APPROVAL_PENDING until it is decided, then NOT_APPROVED unless it was a yes. */
  async askParked(call: Asked & { callId: string }): Promise<Decision> {
    const { sessionId, callId, tool } = call;
    if (this.remembered.covers(call)) return { accept: true };
    const parked = (await this.store.ofCall(sessionId, callId)) ?? (await this.park(call));
    const { status, note, edited } = parked;
    if (status === 'expired') throw tooLate(tool);
    if (status === 'rejected') throw refused(tool, note);
    if (status === 'waiting') throw pending(parked);
    return { accept: true, ...(edited ? { arguments: edited } : {}), ...(note ? { note } : {}) };
  }

  close(): void {
    clearInterval(this.sweep);
  }

  private async park({ kind, ...call }: Asked & { callId: string }): Promise<ParkedProposal> {
    const createdAt = Date.now();
    const times = { createdAt, expiresAt: createdAt + this.expiresAfterMs };
    const parked: ParkedProposal = { ...call, ...times, id: timeOrderedId(), status: 'waiting' };
    await this.store.add(parked);
    this.tell(shownAsCall(parked), 'waiting');
    this.watchExpiry();
    return parked;
  }

  private async remember(
    proposal: Omit<Proposal, 'kind'>,
    { accept, remember, arguments: edited }: Decision,
  ): Promise<void> {
    if (accept && remember)
      await this.remembered.add({ ...proposal, arguments: edited ?? proposal.arguments }, remember);
  }

  private decided(parked: ParkedProposal, state: ProposalState, by?: string, note?: string): void {
    this.tell(shownAsCall(parked), state, by, note);
    for (const listener of this.onDecided) listener(parked.sessionId);
  }

  private tell(proposal: Proposal, state: ProposalState, by?: string, note?: string): void {
    if (state !== 'waiting') this.keep(proposal, state, by, note);
    for (const listener of this.listeners) listener(proposal, state, by);
  }

  private keep(proposal: Proposal, state: ProposalState, by?: string, note?: string): void {
    const { decisions, hide, log } = this.options;
    const { createdAt, expiresAt, arguments: args, ...rest } = proposal;
    const decision: JsonObject = {
      ...rest,
      arguments: redactByKey(args, { characters: KEPT_CHARACTERS, hide }),
      createdAt: new Date(createdAt).toISOString(),
      expiresAt: new Date(expiresAt).toISOString(),
      state,
      ...(by ? { by } : {}),
      ...(note ? { note: hide(note) } : {}),
      decidedAt: new Date().toISOString(),
    };
    decisions
      .add(state, decision)
      .catch((error) => log.warn(`What was decided of "${proposal.tool}" is not kept: ${messageOf(error)}`));
  }

  /** Looks at the clock for as long as something waits. */
  private watchExpiry(): void {
    this.sweep ??= setInterval(() => {
      this.expire().catch(() => undefined); // the next look is a second away
    }, EXPIRY_CHECK_MS).unref();
  }

  private async expire(): Promise<void> {
    const parked = await this.store.waiting();
    if (parked.length === 0) {
      clearInterval(this.sweep);
      this.sweep = undefined;
    }
    for (const one of parked) {
      if (one.expiresAt <= Date.now() && (await this.store.decide(one.id, 'expired')))
        this.decided(one, 'expired');
    }
  }
}

function shownAsCall({ status, note, edited, ...proposal }: ParkedProposal): Proposal {
  return { kind: 'call', ...proposal };
}

/** Who edits was shown secrets as blanks, and sends these back. */
function withSecretsOf(proposal: Pick<Proposal, 'arguments'>, decision: Decision, hide: Hide): Decision {
  if (!decision.arguments) return decision;
  return { ...decision, arguments: unblanked(decision.arguments, proposal.arguments, hide) };
}

function refused(tool: string, note?: string): AppError {
  return new AppError('NOT_APPROVED', `A person refused the call of "${tool}"${note ? `: ${note}` : '.'}`);
}

function tooLate(tool: string): AppError {
  return new AppError('NOT_APPROVED', `Nobody approved the call of "${tool}" in time.`);
}

function pending({ id, tool, expiresAt }: ParkedProposal): AppError {
  const sentence = `The call of "${tool}" waits for a person: send it again with the same X-Call-ID when proposal "${id}" is decided.`;
  const details = { proposal: id, expiresAt: new Date(expiresAt).toISOString() };
  return new AppError('APPROVAL_PENDING', sentence, { details });
}
