import { lazy, Suspense } from 'react';
import { Dialog } from '../ui/dialog';
import { Loading } from '../ui/states';

const Comparison = lazy(() => import('./comparison'));

export function CompareDialog({ ids, onClose }: { ids: readonly [string, string]; onClose(): void }) {
  return (
    <Dialog title="Two calls compared" onClose={onClose} className="wide">
      <Suspense fallback={<Loading what="the comparison" />}>
        <Comparison ids={ids} />
      </Suspense>
    </Dialog>
  );
}
