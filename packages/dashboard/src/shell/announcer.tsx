import { useEffect, useRef, useState } from 'react';
import { isBad } from '../calls/call';
import { useFeed } from '../calls/feeds';
import { onHouseEvent } from '../net/house-events';
import { preferences } from './preferences';

const PAUSE_MS = 10_000;

/** Says what a person needs, at most every ten seconds; an approval once, at once. Rows themselves are never read out. */
export function Announcer({ waiting }: { waiting: number }) {
  const [polite, setPolite] = useState('');
  const [urgent, setUrgent] = useState('');
  const feed = useFeed();
  const failures = useRef(new Set<string>());
  const said = useRef({ failures: 0, at: 0 });
  for (const call of newest(feed.store.fromNewest())) if (isBad(call)) failures.current.add(call.id);
  useEffect(() => {
    const timer = setInterval(() => {
      const fresh = failures.current.size - said.current.failures;
      said.current.failures = failures.current.size;
      if (fresh > 0 || waiting > 0)
        setPolite(
          [fresh > 0 ? `${fresh} failed` : '', waiting > 0 ? `${waiting} wait for you` : '']
            .filter(Boolean)
            .join(', '),
        );
    }, PAUSE_MS);
    return () => clearInterval(timer);
  }, [waiting]);
  useEffect(
    () =>
      onHouseEvent((event) => {
        if (event.type !== 'proposal' || event.proposal.state !== 'waiting') return;
        const { server, tool, kind } = event.proposal;
        const words =
          kind === 'question'
            ? 'A question waits for your answer'
            : `${server} ${tool} waits for your approval`;
        setUrgent(words);
        if (preferences().notices && document.hidden && 'Notification' in window) new Notification(words);
      }),
    [],
  );
  return (
    <>
      <div className="hidden-text" role="status" aria-live="polite">
        {polite}
      </div>
      <div className="hidden-text" aria-live="assertive">
        {urgent}
      </div>
    </>
  );
}

function* newest<T>(items: Iterable<T>): Generator<T> {
  let left = 50;
  for (const item of items) {
    if (left-- === 0) return;
    yield item;
  }
}
