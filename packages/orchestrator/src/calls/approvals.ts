import type { CancelSignal } from '@mcpbridge/shared/cancel.js';
import { AppError } from '@mcpbridge/shared/errors.js';
import { timeOrderedId } from '@mcpbridge/shared/ids.js';
import type { JsonObject } from '@mcpbridge/shared/json-rpc.js';
import type { CallListener } from '../providers/provider.js';

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
  note?: string;
}

const EXPIRES_AFTER_MS = 10 * 60_000;
/** Clients that asked for progress hear that often that the call still waits. */
const REMIND_EVERY_MS = 5000;

interface Waiting {
  proposal: Proposal;
  decide(decision: Decision | AppError): void;
}

/** The calls that wait for a person, in the order in which they came. */
export class Approvals {
  private readonly waiting = new Map<string, Waiting>();

  list(): Proposal[] {
    return [...this.waiting.values()].map(({ proposal }) => proposal);
  }

  get(id: string): Proposal | undefined {
    return this.waiting.get(id)?.proposal;
  }

  /** False when no such proposal waits any more: the first decision counts. */
  decide(id: string, decision: Decision): boolean {
    const waiting = this.waiting.get(id);
    waiting?.decide(decision);
    return waiting !== undefined;
  }

  /** Resolves with the note of a yes; @throws NOT_APPROVED at a no or when nobody answers in time, or what `signal` was aborted with. */
  async ask(
    call: Omit<Proposal, 'id' | 'createdAt' | 'expiresAt'>,
    signal: CancelSignal,
    listener?: CallListener,
  ): Promise<string> {
    const createdAt = Date.now();
    const proposal = { ...call, id: timeOrderedId(), createdAt, expiresAt: createdAt + EXPIRES_AFTER_MS };
    const { tool } = call;
    let reminders = 0;
    const remind = () =>
      listener?.progress?.({ progress: ++reminders, message: `Waiting for a person to approve "${tool}"` });
    const reminding = setInterval(remind, REMIND_EVERY_MS);
    let expiring: NodeJS.Timeout | undefined;
    let onAbort = () => {};
    try {
      remind();
      const decision = await new Promise<Decision | AppError>((decide) => {
        this.waiting.set(proposal.id, { proposal, decide });
        const late = new AppError('NOT_APPROVED', `Nobody approved the call of "${tool}" in time.`);
        expiring = setTimeout(() => decide(late), EXPIRES_AFTER_MS);
        onAbort = () => decide(new AppError('CALL_CANCELLED', 'The call was cancelled while it waited.'));
        signal.addEventListener('abort', onAbort);
      });
      if (decision instanceof AppError) throw decision;
      if (!decision.accept) {
        const note = decision.note ? `: ${decision.note}` : '.';
        throw new AppError('NOT_APPROVED', `A person refused the call of "${tool}"${note}`);
      }
      return decision.note ?? '';
    } finally {
      clearInterval(reminding);
      clearTimeout(expiring);
      signal.removeEventListener('abort', onAbort);
      this.waiting.delete(proposal.id);
    }
  }
}
