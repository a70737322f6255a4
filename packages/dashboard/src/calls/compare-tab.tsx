import type { CallDetails } from '@mcpbridge/shared/call-row.js';
import { lazy, Suspense, useState } from 'react';
import { Menu } from '../ui/menu';
import { Loading } from '../ui/states';

const Comparison = lazy(() => import('./comparison'));

interface CompareTabProps {
  call: CallDetails;
  onCompare?: ((other: string) => void) | undefined;
}

/** A replay beside what it repeats, or a call beside one of its replays. */
export function CompareTab({ call }: CompareTabProps) {
  const others = [...(call.replayOf ? [call.replayOf] : []), ...(call.replays ?? [])];
  const [other, setOther] = useState(others[0]);
  if (!other) return <p className="said">There is nothing to compare it with.</p>;
  return (
    <div className="stack">
      {others.length > 1 ? (
        <Menu
          label={`With ${other}`}
          entries={others.map((id) => ({ label: id, isChosen: id === other, run: () => setOther(id) }))}
        />
      ) : null}
      <Suspense fallback={<Loading what="the comparison" />}>
        <Comparison key={other} ids={[call.id, other]} />
      </Suspense>
    </div>
  );
}
