import { Link, Outlet, useRouterState } from '@tanstack/react-router';
import { Search } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { useAddress } from '../address/address';
import { Elapsed } from '../calls/elapsed';
import { useFeed } from '../calls/feeds';
import { useServers } from '../servers/use-servers';
import { clock } from '../text/units';
import { Announcer } from './announcer';
import { KeyHelp } from './key-help';
import { useKeys } from './keys';
import { Palette } from './palette';
import { PLACES } from './places';
import { titleWaiting } from './title';
import { useHouseNews, useWaiting } from './waiting';

/** What stands around every view: where one is, what waits, how the connection is. */
export function Shell() {
  useHouseNews();
  const { go } = useAddress();
  const [overlay, setOverlay] = useState<'palette' | 'keys'>();
  const waiting = useWaiting().length;
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const main = useRef<HTMLElement>(null);
  const first = useRef(true);
  useKeys([
    { keys: 'mod+k', label: 'Go to or do anything', run: () => setOverlay('palette') },
    { keys: '?', label: 'All keys', run: () => setOverlay('keys') },
    ...PLACES.map(({ path: to, label, key }) => ({
      keys: `g ${key}`,
      label: `Go to ${label}`,
      run: () => go(to),
    })),
  ]);
  useEffect(() => titleWaiting(waiting), [waiting]);
  // A view that comes by a key or a link is where reading goes on.
  useEffect(() => {
    if (!first.current && path) main.current?.focus({ preventScroll: true });
    first.current = false;
  }, [path]);
  const close = () => setOverlay(undefined);
  return (
    <div className="shell">
      <a className="skip" href="#main">
        Skip to the view
      </a>
      <Header waiting={waiting} onPalette={() => setOverlay('palette')} onKeys={() => setOverlay('keys')} />
      <Rail path={path} waiting={waiting} />
      <main className="main" id="main" ref={main} tabIndex={-1}>
        <LostBar />
        <Outlet />
      </main>
      <Announcer waiting={waiting} />
      {overlay === 'palette' ? <Palette onClose={close} /> : null}
      {overlay === 'keys' ? <KeyHelp onClose={close} /> : null}
    </div>
  );
}

interface HeaderProps {
  waiting: number;
  onPalette(): void;
  onKeys(): void;
}

function Header({ waiting, onPalette, onKeys }: HeaderProps) {
  const { state } = useFeed();
  return (
    <header className="top">
      <Link to="/" className="brand" aria-label="Orchestrator">
        <img src="/icon.svg" alt="" />
        <span className="words">Orchestrator</span>
      </Link>
      <span className={`link-state${state.lostSince ? ' lost' : ''}`}>
        {state.lostSince ? 'not connected' : 'connected'}
      </span>
      <span className="grow">
        {waiting > 0 ? (
          <Link to={'/approvals' as never} className="waits">
            <span className="st waiting" aria-hidden />
            {waiting}{' '}
            <span className="words">{waiting === 1 ? 'call waits for you' : 'calls wait for you'}</span>
          </Link>
        ) : null}
      </span>
      <button type="button" className="button goto" onClick={onPalette}>
        <span className="row">
          <Search size={16} strokeWidth={1.5} aria-hidden />
          <span className="words">Go to…</span>
          <span className="hidden-text">Go to or do anything</span>
        </span>
        <kbd>Ctrl K</kbd>
      </button>
      <button type="button" className="icon-button" aria-label="All keys" onClick={onKeys}>
        ?
      </button>
    </header>
  );
}

function Rail({ path, waiting }: { path: string; waiting: number }) {
  const bad =
    useServers().data?.servers.filter(({ state }) => state === 'failed' || state === 'faulty').length ?? 0;
  const badges: Record<string, { count: number; tone: string; words: string }> = {
    '/approvals': { count: waiting, tone: '', words: 'waiting' },
    '/servers': { count: bad, tone: 'err', words: 'unwell' },
  };
  return (
    <nav className="rail" aria-label="Views">
      <ul>
        {PLACES.map(({ path: to, label, icon: Icon }) => {
          const badge = badges[to];
          const isHere = to === '/' ? path === '/' || path.startsWith('/calls') : path.startsWith(to);
          return (
            <li key={to}>
              <Link to={to as never} aria-current={isHere ? 'page' : undefined} title={label}>
                <Icon size={16} strokeWidth={1.5} aria-hidden />
                <span>{label}</span>
                {badge && badge.count > 0 ? (
                  <span className={`badge ${badge.tone}`}>
                    {badge.count}
                    <span className="hidden-text"> {badge.words}</span>
                  </span>
                ) : null}
              </Link>
            </li>
          );
        })}
      </ul>
    </nav>
  );
}

/** Old rows stay while the connection is lost, and a bar says so. */
function LostBar() {
  const feed = useFeed();
  const { lostSince, retryAt } = feed.state;
  if (lostSince === undefined) return null;
  return (
    <div className="lost-bar row wrap" role="alert">
      <span className="grow">
        Not connected since {clock(lostSince).slice(0, 8)} (
        <Elapsed since={lostSince + feed.state.clockAhead} />
        ): what is shown may be old. {retryAt ? <Countdown to={retryAt} /> : null}
      </span>
      <button type="button" className="button" onClick={() => feed.retry()}>
        Retry now
      </button>
    </div>
  );
}

function Countdown({ to }: { to: number }) {
  const left = Math.ceil((to - Date.now()) / 1000);
  return <>{left > 0 ? `Tried again in ${left} s.` : 'Trying …'}</>;
}
