import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { messageOf, request } from '../net/request';
import { EMPTY_POLICY, PolicyFields, toolsOf } from '../sessions/policy-fields';
import { Dialog } from '../ui/dialog';
import { Command } from '../ui/states';

/** A key is shown once, in the answer to its making. */
export function NewKey({ onClose }: { onClose(): void }) {
  const queries = useQueryClient();
  const [name, setName] = useState('');
  const [isAdmin, setAdmin] = useState(false);
  const [text, setText] = useState(EMPTY_POLICY);
  const make = useMutation({
    mutationFn: () =>
      request<{ name: string; key: string }>('/api/keys', {
        method: 'POST',
        body: {
          name: name.trim(),
          ...(isAdmin ? { admin: true } : { tools: toolsOf(text) }),
          ...(text.ttl.trim() ? { ttl: text.ttl.trim() } : {}),
        },
      }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['keys'] }),
    gcTime: 0,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    make.mutate();
  };
  return (
    <Dialog title="New key" onClose={onClose}>
      {make.data ? (
        <div className="stack">
          <p>
            The key of <strong>{make.data.name}</strong>. It is shown only here and now; it goes into{' '}
            <code>MCP_API_TOKEN</code> of the bridge, or after <code>Authorization: Bearer</code>.
          </p>
          <Command text={make.data.key} />
          <div className="row">
            <button type="button" className="button primary" onClick={onClose}>
              I have it
            </button>
          </div>
        </div>
      ) : (
        <form className="stack" onSubmit={submit}>
          <label>
            <span className="label">Name</span>
            <input
              data-first
              className="field"
              required
              maxLength={100}
              placeholder="whose it is, and where it is used"
              value={name}
              onChange={({ target }) => setName(target.value)}
            />
          </label>
          <label className="row">
            <input type="checkbox" checked={isAdmin} onChange={({ target }) => setAdmin(target.checked)} />
            May do all that I may, this page too
          </label>
          <PolicyFields value={text} onChange={setText} isOnlyEnd={isAdmin} noEnd="it does not end" />
          {make.error ? (
            <p className="note err" role="alert">
              {messageOf(make.error)}
            </p>
          ) : null}
          <div className="row">
            <button type="submit" className="button primary" disabled={make.isPending}>
              Make it
            </button>
          </div>
        </form>
      )}
    </Dialog>
  );
}
