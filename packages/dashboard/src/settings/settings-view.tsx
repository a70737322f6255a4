import type { CallRow } from '@mcpbridge/shared/call-row.js';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useFeed } from '../calls/feeds';
import { messageOf, request } from '../net/request';
import { type Preferences, prefer, usePreferences } from '../shell/preferences';
import { useTitle } from '../shell/title';
import { inert } from '../text/inert';
import { clock } from '../text/units';
import { CopyButton } from '../ui/copy-button';
import { Command } from '../ui/states';
import { Tabs } from '../ui/tabs';
import { useClientCommands } from './client-commands';
import { KeysSection } from './keys-section';
import { LogSection } from './log-section';
import { SecretsSection } from './secrets-section';

/** How a client connects, and how this browser shows things. Each change takes effect at once. */
export default function SettingsView() {
  const commands = useClientCommands();
  const [name, setName] = useState('Claude Code');
  const chosen = commands.find((client) => client.name === name);
  useTitle('Settings');
  return (
    <div className="page settings">
      <header>
        <h1>Settings</h1>
      </header>
      <section aria-label="Connect a client">
        <h2>Connect a client</h2>
        <Tabs
          label="Clients"
          tabs={commands.map((client) => ({ id: client.name, label: client.name }))}
          chosen={name}
          onChoose={setName}
        >
          {chosen ? (
            <div className="stack">
              <p className="dim">{chosen.where}</p>
              <Command text={chosen.text} />
            </div>
          ) : null}
        </Tabs>
        <Seen />
      </section>
      <KeysSection />
      <Access />
      <SecretsSection />
      <LogSection />
      <Browser />
    </div>
  );
}

/** Whether anybody has come: the latest call of a client that says its name. */
function Seen() {
  const { store } = useFeed();
  let call: CallRow | undefined;
  for (const each of store.fromNewest())
    if (each.client) {
      call = each;
      break;
    }
  return (
    <p className="row" role="status">
      <span className={`st ${call ? 'ok' : 'running'}`} aria-hidden />
      {call
        ? `Seen: ${inert(call.client ?? '').slice(0, 120)}, ${clock(call.at).slice(0, 8)}`
        : 'Waiting for a first call …'}
    </p>
  );
}

function Access() {
  const link = useMutation({
    mutationFn: async () => {
      const { path } = await request<{ path: string }>('/api/login/links', { method: 'POST' });
      return `${window.location.origin}${path}`;
    },
    gcTime: 0,
  });
  const leave = useMutation({
    mutationFn: () => request('/api/logout', { method: 'POST', body: {} }),
    onSuccess: () => window.location.assign('/'),
  });
  return (
    <section aria-label="Access" className="stack">
      <h2>Access</h2>
      <p>A link lets one more browser in, once; a phone for approvals, for example.</p>
      <div className="row wrap">
        <button type="button" className="button" onClick={() => link.mutate()}>
          Make a link
        </button>
        <button type="button" className="button" onClick={() => leave.mutate()}>
          Leave on this browser
        </button>
      </div>
      {link.data ? (
        <div className="command row">
          <pre className="grow">{link.data}</pre>
          <CopyButton text={link.data} />
        </div>
      ) : null}
      {link.error || leave.error ? (
        <p className="note err" role="alert">
          {messageOf(link.error ?? leave.error)}
        </p>
      ) : null}
    </section>
  );
}

function Browser() {
  const chosen = usePreferences();
  const choice = <Key extends keyof Preferences>(
    key: Key,
    label: string,
    values: [Preferences[Key], string][],
  ) => (
    <label className="row">
      <span className="setting-name">{label}</span>
      <select
        className="field"
        value={String(chosen[key])}
        onChange={({ target }) =>
          prefer({ [key]: values.find(([value]) => String(value) === target.value)?.[0] })
        }
      >
        {values.map(([value, words]) => (
          <option key={String(value)} value={String(value)}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
  const notices = async (isOn: boolean) => {
    if (isOn && 'Notification' in window && (await Notification.requestPermission()) !== 'granted') return;
    prefer({ notices: isOn });
  };
  return (
    <section aria-label="This browser" className="stack">
      <h2>This browser</h2>
      {choice('theme', 'Theme', [
        ['system', 'as the system'],
        ['light', 'light'],
        ['dark', 'dark'],
      ])}
      {choice('density', 'Rows', [
        ['dense', 'dense'],
        ['roomy', 'roomy'],
      ])}
      {choice('singleKeys', 'Single keys', [
        [true, 'on'],
        [false, 'off'],
      ])}
      <label className="row">
        <input
          type="checkbox"
          checked={chosen.notices}
          onChange={({ target }) => void notices(target.checked)}
        />
        Desktop notices for what waits for a yes, while this page is not in front
      </label>
    </section>
  );
}
