import { randomUUID } from 'node:crypto';
import { AppError } from '@mcpbridge/shared/errors.js';
import type { Command, CommandOutcome } from './command.js';

const MAX_RUNNING = 16;
const MAX_ENDED = 32;

export interface BackgroundState {
  id: string;
  command: string;
  status: 'running' | 'ended';
  stdout?: string;
  stderr?: string;
  running_ms?: number;
}

interface Entry {
  id: string;
  line: string;
  command: Command;
  outcome: CommandOutcome | undefined;
}

/** Commands that nobody waits for, of each session; they end with it. */
export class Background {
  private readonly bySession = new Map<string, Map<string, Entry>>();

  /** @throws LIMIT_REACHED */
  checkRoom(sessionId: string): void {
    const running = this.entriesOf(sessionId).filter(({ outcome }) => !outcome).length;
    if (running < MAX_RUNNING) return;
    throw new AppError(
      'LIMIT_REACHED',
      `This session has ${running} commands in the background, as many as it may: end one of them.`,
    );
  }

  add(sessionId: string, line: string, command: Command): BackgroundState {
    const entry: Entry = { id: randomUUID(), line, command, outcome: undefined };
    const entries = this.bySession.get(sessionId) ?? new Map<string, Entry>();
    this.bySession.set(sessionId, entries.set(entry.id, entry));
    void command.outcome.then((outcome) => {
      entry.outcome = outcome;
      const ended = [...entries.values()].filter((one) => one.outcome);
      for (const { id } of ended.slice(0, -MAX_ENDED)) entries.delete(id);
    });
    return briefOf(entry);
  }

  list(sessionId: string): BackgroundState[] {
    return this.entriesOf(sessionId).map(briefOf);
  }

  /** What it has printed until now, or its outcome. @throws NOT_FOUND, for another session's as well */
  state(sessionId: string, id: string): BackgroundState | (BackgroundState & CommandOutcome) {
    const entry = this.find(sessionId, id);
    return { ...briefOf(entry), ...(entry.outcome ?? entry.command.printed()) };
  }

  /** Ends it and waits for that. @throws NOT_FOUND */
  async end(sessionId: string, id: string): Promise<BackgroundState> {
    const entry = this.find(sessionId, id);
    if (!entry.outcome) {
      entry.command.end('cancelled');
      await entry.command.outcome;
    }
    return this.state(sessionId, id);
  }

  async endSession(sessionId: string): Promise<void> {
    const entries = this.entriesOf(sessionId);
    this.bySession.delete(sessionId);
    for (const { command } of entries) command.end('cancelled');
    await Promise.all(entries.map(({ command }) => command.outcome));
  }

  private entriesOf(sessionId: string): Entry[] {
    return [...(this.bySession.get(sessionId)?.values() ?? [])];
  }

  private find(sessionId: string, id: string): Entry {
    const entry = this.bySession.get(sessionId)?.get(id);
    if (entry) return entry;
    throw new AppError('NOT_FOUND', `This session has no command "${id}" in the background.`);
  }
}

function briefOf({ id, line, command, outcome }: Entry): BackgroundState {
  return {
    id,
    command: line,
    status: outcome ? 'ended' : 'running',
    ...(outcome ? {} : { running_ms: command.runningMs }),
  };
}
