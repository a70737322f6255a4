import './style/tokens.css';
import './style/base.css';
import './style/marks.css';
import './style/shell.css';
import './style/live.css';
import './style/panel.css';
import './style/views.css';
import './shell/preferences';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode, useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { RequestError, request } from './net/request';
import { router } from './routes';
import { SignIn } from './shell/sign-in';

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      retry: (times, error) => times < 2 && !(error instanceof RequestError && error.status >= 400),
    },
  },
});

type Entry = 'asking' | 'in' | 'out';

function Page() {
  const [entry, setEntry] = useState<Entry>('asking');
  useEffect(() => {
    request('/api/login').then(
      () => setEntry('in'),
      (error) => setEntry(error instanceof RequestError && error.isSignedOut ? 'out' : 'in'),
    );
  }, []);
  useEffect(
    () =>
      queries.getQueryCache().subscribe(({ query: { state } }) => {
        if (state.error instanceof RequestError && state.error.isSignedOut) setEntry('out');
      }),
    [],
  );
  if (entry === 'asking') return null;
  return (
    <QueryClientProvider client={queries}>
      {entry === 'out' ? (
        <SignIn onDone={() => window.location.reload()} />
      ) : (
        <RouterProvider router={router} />
      )}
    </QueryClientProvider>
  );
}

// What a boundary catches is dealt with there.
const root = createRoot(document.getElementById('root') as HTMLElement, { onCaughtError: () => undefined });
root.render(
  <StrictMode>
    <Page />
  </StrictMode>,
);
