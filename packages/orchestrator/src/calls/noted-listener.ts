import type { CallListener } from '../providers/provider.js';
import type { CallRecord } from '../store/call-log.js';

/** Of one call; a server may send them without end. */
const MOST_NOTES = 100;

/**
 * The same listener; what it hears stands in the record as well. `start` is on the clock of `performance.now()`.
 * Nearly every call hears nothing, so nothing is made before something is asked for.
 */
export class NotedListener implements CallListener {
  constructor(
    private readonly heard: CallListener,
    private readonly record: CallRecord,
    private readonly start: number,
  ) {}

  get ask(): CallListener['ask'] {
    return this.heard.ask;
  }

  get terms(): CallListener['terms'] {
    return this.heard.terms;
  }

  get paused(): CallListener['paused'] {
    return this.heard.paused;
  }

  /** Whether it wants progress decides what the server is asked for, so what is absent stays absent. */
  get progress(): CallListener['progress'] {
    const { heard } = this;
    if (!heard.progress) return undefined;
    return (params) => {
      this.note('progress', params);
      heard.progress?.(params);
    };
  }

  get notification(): CallListener['notification'] {
    const { heard } = this;
    if (!heard.notification) return undefined;
    return (message) => {
      if (message.method === 'notifications/message') this.note('log', message.params);
      heard.notification?.(message);
    };
  }

  private note(kind: 'progress' | 'log', params: unknown): void {
    const { record, start } = this;
    record.notes ??= [];
    if (record.notes.length < MOST_NOTES)
      record.notes.push({ ms: Math.round((performance.now() - start) * 10) / 10, kind, params });
  }
}
