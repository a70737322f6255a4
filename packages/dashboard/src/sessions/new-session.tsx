import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { messageOf, request } from '../net/request';
import { CopyButton } from '../ui/copy-button';
import { Dialog } from '../ui/dialog';
import { EMPTY_POLICY, PolicyFields, toolsOf } from './policy-fields';

/** A session with a policy of its own; its token is shown once. */
export function NewSession({ onClose }: { onClose(): void }) {
  const queries = useQueryClient();
  const [id, setId] = useState('');
  const [text, setText] = useState(EMPTY_POLICY);
  const create = useMutation({
    mutationFn: () =>
      request<{ id: string; token: string; expiresAt: string }>('/api/sessions', {
        method: 'POST',
        body: {
          ...(id.trim() ? { id: id.trim() } : {}),
          tools: toolsOf(text),
          ...(text.ttl.trim() ? { ttl: text.ttl.trim() } : {}),
        },
      }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['sessions'] }),
    gcTime: 0,
  });
  return (
    <Dialog title="New session" onClose={onClose}>
      {create.data ? (
        <div className="stack">
          <p>
            <code>{create.data.id}</code> is open. Its token is good for it alone and is shown only here and
            now:
          </p>
          <div className="command row">
            <pre className="grow">{create.data.token}</pre>
            <CopyButton text={create.data.token} />
          </div>
          <div className="row">
            <button type="button" className="button primary" onClick={onClose}>
              I have it
            </button>
          </div>
        </div>
      ) : (
        <form
          className="stack"
          onSubmit={(event) => {
            event.preventDefault();
            create.mutate();
          }}
        >
          <label>
            <span className="label">Id</span>
            <input
              className="field mono"
              placeholder="a random one"
              value={id}
              onChange={(event) => setId(event.target.value)}
            />
          </label>
          <PolicyFields value={text} onChange={setText} />
          {create.error ? (
            <p className="note err" role="alert">
              {messageOf(create.error)}
            </p>
          ) : null}
          <div className="row">
            <button type="submit" className="button primary" disabled={create.isPending}>
              Open it
            </button>
          </div>
        </form>
      )}
    </Dialog>
  );
}
