import type { ProposalEvent } from '@mcpbridge/shared/events.js';
import { useEffect, useRef, useState } from 'react';
import { onHouseEvent } from '../net/house-events';
import { type Proposal, useWaiting } from '../shell/waiting';

export type Ending = Exclude<ProposalEvent['proposal']['state'], 'waiting'> | 'gone';

export interface Card {
  proposal: Proposal;
  /** When this page first had it. */
  since: number;
  ended?: { how: Ending; by: string | undefined; at: number };
}

/** The cards in the order in which they came: new ones join at the end, decided ones stay in their place. */
export function useCards(): { cards: Card[]; dismiss(id: string): void } {
  const waiting = useWaiting();
  const cards = useRef(new Map<string, Card>());
  const [, again] = useState(0);
  useEffect(
    () =>
      onHouseEvent((event) => {
        if (event.type !== 'proposal' || event.proposal.state === 'waiting') return;
        const card = cards.current.get(event.proposal.id);
        if (!card) return;
        card.ended = { how: event.proposal.state, by: event.proposal.by, at: Date.now() };
        again((n) => n + 1);
      }),
    [],
  );
  const now = new Set(waiting.map(({ id }) => id));
  for (const proposal of waiting)
    if (!cards.current.has(proposal.id)) cards.current.set(proposal.id, { proposal, since: Date.now() });
  // What is not listed any more was decided while the stream was away.
  for (const card of cards.current.values())
    if (!now.has(card.proposal.id) && !card.ended && Date.now() - card.since > 12_000)
      card.ended = { how: 'gone', by: undefined, at: Date.now() };
  return {
    cards: [...cards.current.values()],
    dismiss(id) {
      cards.current.delete(id);
      again((n) => n + 1);
    },
  };
}
