import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { X } from 'lucide-react';
import { useState } from 'react';
import { liveLink, useAddress } from '../address/address';
import { isOver } from '../calls/call';
import { useFeed } from '../calls/feeds';
import { request } from '../net/request';
import { RecordButton } from '../recordings/record-button';
import { useClientCommands } from '../settings/client-commands';
import { inert } from '../text/inert';
import { InertText } from '../text/inert-text';
import { relative, shortTime } from '../text/units';
import { copyText } from '../ui/clipboard';
import { Dialog } from '../ui/dialog';
import { Menu } from '../ui/menu';
import { Failure, Loading } from '../ui/states';
import { Tabs } from '../ui/tabs';
import { PolicyEditor } from './policy-editor';
import { SessionTools } from './session-tools';
import { Timeline } from './timeline';
import type { SessionInfo } from './use-sessions';

interface SessionDetailProps {
  id: string;
  info: SessionInfo | undefined;
  onClose(): void;
  onEnd(id: string): void;
}

export function SessionDetail({ id, info, onClose, onEnd }: SessionDetailProps) {
  const { search, set } = useAddress();
  const [isEnding, setEnding] = useState(false);
  const { data, error } = useQuery({
    queryKey: ['sessions', id],
    queryFn: () => request<SessionInfo>(`/api/sessions/${encodeURIComponent(id)}`),
    enabled: info === undefined,
    retry: false,
  });
  const commands = useClientCommands();
  const feed = useFeed();
  const session = info ?? data;
  const running = [...feed.store.fromNewest()].filter((call) => call.session === id && !isOver(call)).length;
  const isOpen = session !== undefined && session.endedAt === undefined;
  const tabs = [
    { id: 'timeline', label: 'Timeline' },
    { id: 'tools', label: 'Tools' },
    { id: 'policy', label: 'Policy' },
  ];
  const chosen = tabs.some((tab) => tab.id === search.tab) ? (search.tab as string) : 'timeline';
  return (
    <aside className="split-detail" aria-label="Session">
      <header className="panel-head row">
        <h2 className="grow cut mono" title={id}>
          {inert(id)}
        </h2>
        <button type="button" className="icon-button" aria-label="Close the session" onClick={onClose}>
          <X size={16} strokeWidth={1.5} aria-hidden />
        </button>
      </header>
      <div className="panel-body">
        {error && !session ? <p className="said">There is no such session, or it is not yours.</p> : null}
        {error && session ? <Failure error={error} /> : null}
        {session ? (
          <>
            <p className="dim">
              of <InertText text={session.owner} /> · since {shortTime(Date.parse(session.createdAt))} · last
              used {relative(Date.parse(session.lastUsedAt))}
              {session.endedAt ? ` · ended ${relative(Date.parse(session.endedAt))}` : ''}
            </p>
            <div className="row wrap">
              <Link className="button" to={liveLink(`session:${id}`) as never}>
                Calls
              </Link>
              {isOpen ? (
                <>
                  <Menu
                    label="Copy config for"
                    entries={commands.map(({ name, text }) => ({
                      label: name,
                      run: () => void copyText(forSession(text, id)),
                    }))}
                  />
                  <RecordButton session={id} />
                  <button type="button" className="button danger" onClick={() => setEnding(true)}>
                    End session…
                  </button>
                </>
              ) : null}
            </div>
            <Tabs
              label="Of this session"
              tabs={tabs}
              chosen={chosen}
              onChoose={(tab) => set({ tab: tab === 'timeline' ? undefined : tab }, { replace: true })}
            >
              {chosen === 'timeline' ? <Timeline session={id} /> : null}
              {chosen === 'tools' ? <SessionTools session={session} /> : null}
              {chosen === 'policy' ? <PolicyEditor session={session} /> : null}
            </Tabs>
          </>
        ) : error ? null : (
          <Loading what="the session" />
        )}
      </div>
      {isEnding ? (
        <Dialog title="End the session?" onClose={() => setEnding(false)}>
          <p>
            {running === 0 ? 'No call of it runs now.' : `${running} of its calls run and will be cancelled.`}{' '}
            Its server processes end, its tools and tokens are gone. This cannot be undone.
          </p>
          <div className="row">
            <button type="button" className="button" onClick={() => setEnding(false)}>
              Keep it
            </button>
            <button type="button" className="button danger" onClick={() => onEnd(id)}>
              End it
            </button>
          </div>
        </Dialog>
      ) : null}
    </aside>
  );
}

/** The same entry, bound to one session. */
function forSession(text: string, id: string): string {
  return text
    .replace(/(-e|--env) (MCP_API_URL=\S+)/, `$1 $2 $1 MCP_SESSION_ID=${id}`)
    .replace(/("MCP_API_URL": "[^"]*")/, `$1,\n        "MCP_SESSION_ID": "${id}"`)
    .replace(/(-H "Authorization[^"]*")/, `$1 -H "X-Session-ID: ${id}"`);
}
