import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import type { ListedTool } from '../calls/use-tool-of';
import { messageOf, request } from '../net/request';
import { inert } from '../text/inert';
import { standing } from '../tools/patterns';
import { PolicyFields, textOf, toolsOf } from './policy-fields';
import type { SessionInfo } from './use-sessions';

/** What it may do, with what a change would change before it is made. */
export function PolicyEditor({ session }: { session: SessionInfo }) {
  const queries = useQueryClient();
  const [text, setText] = useState(() => textOf(session.policy));
  const { data } = useQuery({
    queryKey: ['tools', 'all'],
    queryFn: () => request<{ tools: ListedTool[] }>('/api/tools'),
    staleTime: 10_000,
  });
  const next = toolsOf(text);
  const change = useMemo(() => differenceOf(data?.tools ?? [], session, next), [data, session, next]);
  const save = useMutation({
    mutationFn: () =>
      request(`/api/sessions/${encodeURIComponent(session.id)}`, {
        method: 'PATCH',
        body: { tools: next, ...(text.ttl.trim() ? { ttl: text.ttl.trim() } : {}) },
      }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['sessions'] }),
  });
  const isSame =
    JSON.stringify(next) === JSON.stringify(toolsOf(textOf(session.policy))) && text.ttl.trim() === '';
  if (session.endedAt) return <p className="said">It has ended; its policy cannot be changed any more.</p>;
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate();
      }}
    >
      <PolicyFields value={text} onChange={setText} />
      {isSame ? null : (
        <p className="note" role="status">
          {change.lost.length} tools lost, {change.gained.length} gained, {change.other.length} that need
          another answer.{' '}
          {change.lost.length > 0
            ? `Lost: ${inert(change.lost.slice(0, 8).join(', '))}${change.lost.length > 8 ? ' …' : ''}. `
            : ''}
          It takes effect at once; calls that run go on.
        </p>
      )}
      <div className="row">
        <button type="submit" className="button primary" disabled={isSame || save.isPending}>
          Save
        </button>
        {save.isSuccess && isSame ? <span className="ok-text">Saved.</span> : null}
      </div>
      {save.error ? (
        <p className="note err" role="alert">
          {messageOf(save.error)}
        </p>
      ) : null}
    </form>
  );
}

function differenceOf(tools: readonly ListedTool[], session: SessionInfo, next: ReturnType<typeof toolsOf>) {
  const lost: string[] = [];
  const gained: string[] = [];
  const other: string[] = [];
  for (const tool of tools) {
    const before = standing(session.policy, tool).is;
    const after = standing({ tools: next }, tool).is;
    if (before === after) continue;
    if (after === 'denied') lost.push(tool.name);
    else if (before === 'denied') gained.push(tool.name);
    else other.push(tool.name);
  }
  return { lost, gained, other };
}
