import { createRootRoute, createRoute, createRouter, Link } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { parseSearch, stringifySearch } from './address/address';
import { LiveView } from './calls/live-view';
import { Shell } from './shell/shell';
import { Empty, Loading } from './ui/states';

const CallView = lazy(() => import('./calls/call-view').then((module) => ({ default: module.CallView })));
const ApprovalsView = lazy(() => import('./approvals/approvals-view'));
const ServersView = lazy(() => import('./servers/servers-view'));
const SessionsView = lazy(() => import('./sessions/sessions-view'));
const RecordingsView = lazy(() => import('./recordings/recordings-view'));
const ToolsView = lazy(() => import('./tools/tools-view'));
const StatisticsView = lazy(() => import('./statistics/statistics-view'));
const RunsView = lazy(() => import('./runs/runs-view'));
const SettingsView = lazy(() => import('./settings/settings-view'));

const root = createRootRoute({ component: Shell, notFoundComponent: Nowhere });

const VIEWS: [string, () => React.ReactNode][] = [
  ['/', () => <LiveView />],
  ['/calls/$id', () => <CallView />],
  ['/calls', () => <LiveView />],
  ['/approvals', () => <ApprovalsView />],
  ['/servers', () => <ServersView />],
  ['/servers/$id', () => <ServersView />],
  ['/sessions', () => <SessionsView />],
  ['/sessions/$id', () => <SessionsView />],
  ['/recordings', () => <RecordingsView />],
  ['/recordings/$name', () => <RecordingsView />],
  ['/tools', () => <ToolsView />],
  ['/stats', () => <StatisticsView />],
  ['/runs', () => <RunsView />],
  ['/runs/$id', () => <RunsView />],
  ['/settings', () => <SettingsView />],
];

const routes = VIEWS.map(([path, View]) =>
  createRoute({
    getParentRoute: () => root,
    path,
    component: () => <Suspense fallback={<Loading what="the view" />}>{View()}</Suspense>,
  }),
);

export const router = createRouter({
  routeTree: root.addChildren(routes),
  parseSearch,
  stringifySearch,
  defaultPreload: 'intent',
  scrollRestoration: false,
});

function Nowhere() {
  return (
    <Empty title="There is nothing at this address">
      <h1 className="hidden-text">Nothing here</h1>
      <p>
        <Link to="/">To the live calls</Link>
      </p>
    </Empty>
  );
}
