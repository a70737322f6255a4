import { X } from 'lucide-react';
import { Failure, Loading } from '../ui/states';
import { CallActions } from './call-actions';
import { CallHeading } from './call-heading';
import type { CallStore } from './call-store';
import { CallTabs } from './call-tabs';
import { FailureReason } from './failure-reason';
import { Neighbours } from './neighbours';
import { useCall } from './use-call';

interface CallPanelProps {
  id: string;
  store: CallStore;
  query: string;
  onClose(): void;
  onQuery(query: string, how: { replace: boolean }): void;
  onCompare(other: string): void;
}

/** One call beside the list: what it was, why it failed, try again. */
export function CallPanel({ id, store, query, onClose, onQuery, onCompare }: CallPanelProps) {
  const { data: call, row, error, refetch } = useCall(id, store);
  const shown = call ?? row;
  return (
    <aside className="panel" aria-label="Call">
      <header className="panel-head row">
        {shown ? <CallHeading call={shown} /> : <h2 className="grow">Call</h2>}
        <button type="button" className="icon-button" aria-label="Close the call" onClick={onClose}>
          <X size={16} strokeWidth={1.5} aria-hidden />
        </button>
      </header>
      <div className="panel-body">
        {shown ? <FailureReason call={shown} message={call?.message} /> : null}
        {shown ? <CallActions call={shown} details={call} query={query} onQuery={onQuery} /> : null}
        {error && !call ? <Failure error={error} retry={() => void refetch()} /> : null}
        {call ? (
          <CallTabs call={call} onCompare={onCompare} />
        ) : error ? null : (
          <Loading what="the call" rows={8} />
        )}
        {shown ? <Neighbours call={shown} /> : null}
      </div>
    </aside>
  );
}
