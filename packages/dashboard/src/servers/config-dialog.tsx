import { lazy, Suspense } from 'react';
import { Dialog } from '../ui/dialog';
import { Loading } from '../ui/states';
import { FoundServers } from './found-servers';
import { useServers } from './use-servers';

const ConfigEditor = lazy(() => import('./config-editor'));

export function ConfigDialog({ id, onClose }: { id: string | undefined; onClose(): void }) {
  const { data } = useServers();
  return (
    <Dialog title="Add a server" onClose={onClose} className="wide">
      {id === undefined && data ? <FoundServers known={data.servers.map((server) => server.id)} /> : null}
      <Suspense fallback={<Loading what="the editor" />}>
        <ConfigEditor id={id} />
      </Suspense>
    </Dialog>
  );
}
