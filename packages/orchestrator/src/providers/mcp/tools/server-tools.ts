import { AppError, messageOf } from '@mcpbridge/shared/errors.js';
import type { ToolDefinition } from '@mcpbridge/shared/tools.js';
import type { Log } from '../../../log.js';
import type { ToolList } from '../../provider.js';
import { ToolLists } from './tool-lists.js';

/** Hears that the tools changed: of one session, or of all. */
export type ListChangedListener = (sessionId?: string) => void;

/** Failures that are no matter of lists. */
const SAYS_WHY = /^(PROVIDER_UNAVAILABLE|SIGN_IN_.*)$/;

/** What is known of one server's tools, why the last reading failed, and who hears of changes. */
export class ServerTools {
  failure: string | undefined;
  private readonly lists: ToolLists;
  private readonly listeners = new Set<ListChangedListener>();

  /** `read` takes a session's id, or COMMON. */
  constructor(
    private readonly server: string,
    read: (key: string) => Promise<ToolList | undefined>,
    private readonly log: Log,
  ) {
    this.lists = new ToolLists(read);
  }

  get common(): ToolList | undefined {
    return this.lists.common;
  }

  of(sessionId: string): ToolList | undefined {
    return this.lists.of(sessionId);
  }

  find(sessionId: string, name: string): ToolDefinition | undefined {
    return this.lists.of(sessionId)?.tools.find((tool) => tool.name === name);
  }

  async refresh(): Promise<ToolList> {
    try {
      await this.lists.refresh();
      this.failure = undefined;
    } catch (error) {
      const failure = this.failureOf(error);
      this.failure = failure.message;
      throw failure;
    }
    return this.lists.common ?? { tools: [], rejected: [] };
  }

  /** The server said so: reads anew, then tells. */
  async changed(sessionId: string | undefined, isWanted: () => boolean): Promise<void> {
    try {
      await (sessionId === undefined ? this.lists.refresh() : this.lists.sessionChanged(sessionId));
    } catch (error) {
      // The old list stays; whoever asks for a refresh hears why it failed.
      if (isWanted()) this.log.warn(this.failureOf(error).message);
    }
    this.tell(sessionId);
  }

  /** The session's connection is gone, and with it a list of its own. */
  forget(sessionId: string): void {
    if (this.lists.forget(sessionId)) this.tell(sessionId);
  }

  /** The lists were read anew, and may be others now. */
  announce(): void {
    this.tell(undefined);
  }

  /** Heard after the new list has been read; answers how to stop hearing. */
  onChanged(listener: ListChangedListener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  private tell(sessionId: string | undefined): void {
    for (const listener of this.listeners) listener(sessionId);
  }

  private failureOf(error: unknown): AppError {
    if (error instanceof AppError && SAYS_WHY.test(error.code)) return error;
    const sentence = `Server "${this.server}" did not list its tools: ${messageOf(error)}`;
    return new AppError('PROVIDER_UNAVAILABLE', sentence, { cause: error });
  }
}
