import { useEffect, useState } from 'react';
import { duration } from '../text/units';
import { useFeed } from './feeds';

/** How long something runs or waits, by the orchestrator's clock; four times a second. */
export function Elapsed({ since }: { since: number }) {
  const { state } = useFeed();
  const [, again] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => again((tick) => tick + 1), 250);
    return () => clearInterval(timer);
  }, []);
  return <>{duration(Math.max(0, Date.now() + state.clockAhead - since))}</>;
}
