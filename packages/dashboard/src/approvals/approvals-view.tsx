import { Link } from '@tanstack/react-router';
import { useAddress } from '../address/address';
import { useTitle } from '../shell/title';
import { Empty } from '../ui/states';
import { Tabs } from '../ui/tabs';
import { ApprovalCard } from './approval-card';
import { Decided } from './decided';
import { QuestionCard } from './question-card';
import { useCards } from './use-cards';

const TABS = ['waiting', 'decided', 'expired'] as const;

/** What waits for a person, and what happens at a yes. */
export default function ApprovalsView() {
  const { search, set } = useAddress();
  const { cards, dismiss } = useCards();
  const waiting = cards.filter(({ ended }) => !ended);
  useTitle('Approvals');
  const tab = TABS.find((known) => known === search.tab) ?? 'waiting';
  return (
    <div className="page approvals">
      <header>
        <h1>Approvals</h1>
        <p className="dim">Whoever is silent denies: at the end of its time a call is refused.</p>
      </header>
      <Tabs
        label="Which"
        tabs={[
          { id: 'waiting', label: 'Waiting', badge: waiting.length },
          { id: 'decided', label: 'Decided' },
          { id: 'expired', label: 'Expired' },
        ]}
        chosen={tab}
        onChoose={(id) => set({ tab: id === 'waiting' ? undefined : id })}
      >
        {tab !== 'waiting' ? (
          <Decided key={tab} which={tab} />
        ) : cards.length === 0 ? (
          <Empty title="Nothing waits for you">
            <p>
              Calls wait here when the policy of their session says so: <code>approve</code> in{' '}
              <Link to={'/sessions' as never}>Sessions</Link>, for example <code>*@destructiveHint</code>.
              Questions that an agent puts with <code>human_feedback</code> come here, too.
            </p>
          </Empty>
        ) : (
          <ol className="cards" aria-label="Waiting, oldest first">
            {cards.map((card) => (
              <li key={card.proposal.id}>
                {card.proposal.kind === 'question' ? (
                  <QuestionCard card={card} onDismiss={dismiss} />
                ) : (
                  <ApprovalCard card={card} onDismiss={dismiss} />
                )}
              </li>
            ))}
          </ol>
        )}
      </Tabs>
    </div>
  );
}
