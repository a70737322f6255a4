import type { HouseEvent } from '@mcpbridge/shared/events.js';
import { EventStream } from './event-stream';

export type HouseNews = Exclude<HouseEvent, { type: 'call' }>;

const TYPES = ['server', 'session', 'proposal', 'catalog', 'loss'] as const;
const listeners = new Set<(event: HouseNews) => void>();

/** What happens besides calls: servers, sessions, proposals, the catalog, losses. */
export function onHouseEvent(listener: (event: HouseNews) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/**
 * Opens the stream of them, which is followed in a hidden tab too: its title says what waits for a person.
 * `onGap`: after a loss, when some of them may be gone for good.
 */
export function followHouse(onGap: () => void): () => void {
  let last: number | undefined;
  const stream = new EventStream({
    types: TYPES,
    since: () => last,
    onHello: ({ seq }) => {
      if (last !== undefined) onGap();
      last = seq;
    },
    onEvents: (events, seq) => {
      last = seq;
      for (const event of events)
        if (event.type !== 'call') for (const listener of listeners) listener(event);
    },
  });
  return () => stream.close();
}
