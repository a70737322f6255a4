import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useAddress } from '../address/address';
import { useTitle } from '../shell/title';
import { Empty, Loading } from '../ui/states';
import { CallActions } from './call-actions';
import { CallHeading } from './call-heading';
import { CallTabs } from './call-tabs';
import { CompareDialog } from './compare';
import { FailureReason } from './failure-reason';
import { useFeed } from './feeds';
import { Neighbours } from './neighbours';
import { useCall } from './use-call';

/** What exactly happened, and whether it can be repeated. */
export function CallView() {
  const { path } = useAddress();
  const id = decodeURIComponent(path.slice('/calls/'.length));
  const feed = useFeed();
  const { data: call, row, error } = useCall(id, feed.store);
  const [compared, setCompared] = useState<string>();
  const shown = call ?? row;
  useTitle(shown ? `${shown.tool} ${shown.status}` : 'Call');
  if (error && !shown)
    return (
      <Empty title="There is no such call">
        <h1 className="hidden-text">Call</h1>
        <p>It never was, its record has expired, or it is not yours to see.</p>
        <p>
          <Link to="/">All calls</Link>
        </p>
      </Empty>
    );
  return (
    <div className="page call-page stack">
      <h1 className="hidden-text">Call</h1>
      {shown ? (
        <>
          <CallHeading call={shown} />
          <FailureReason call={shown} message={call?.message} />
          <CallActions call={shown} details={call} />
          <Neighbours call={shown} />
        </>
      ) : null}
      {call ? <CallTabs call={call} onCompare={setCompared} /> : <Loading what="the call" />}
      {compared ? <CompareDialog ids={[id, compared]} onClose={() => setCompared(undefined)} /> : null}
    </div>
  );
}
