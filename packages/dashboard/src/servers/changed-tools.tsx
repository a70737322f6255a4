import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Side } from '../calls/change-list';
import { messageOf, request } from '../net/request';
import { inert } from '../text/inert';
import type { ChangedTool } from './use-changed-tools';

/** What tools were when they were accepted and what they are now; held back until somebody says which it is to be. */
export function ChangedTools({ changed }: { changed: readonly ChangedTool[] }) {
  return (
    <section aria-label="Changed tools" className="stack">
      <h2>{changed.length === 1 ? '1 tool has changed' : `${changed.length} tools have changed`}</h2>
      <p className="dim">They are held back from lists and calls until they are accepted as they are now.</p>
      {changed.map((tool) => (
        <ChangedToolBox key={`${tool.server} ${tool.tool}`} changed={tool} />
      ))}
    </section>
  );
}

function ChangedToolBox({ changed }: { changed: ChangedTool }) {
  const { server, tool, differences, blocked = false } = changed;
  const queries = useQueryClient();
  const decide = useMutation({
    mutationFn: (block: boolean) =>
      request('/api/lock', { method: 'POST', body: { server, tool, ...(block ? { block } : {}) } }),
    onSettled: () =>
      Promise.all(
        ['lock', 'servers', 'tools', 'server'].map((key) => queries.invalidateQueries({ queryKey: [key] })),
      ),
  });
  return (
    <article className="box changed" aria-label={`${server} ${tool}`}>
      <header className="row wrap">
        <h3 className="grow mono">{inert(`${server} · ${tool}`)}</h3>
        {blocked ? <span className="tag deny">blocked</span> : <span className="tag wait">changed</span>}
      </header>
      <ul className="changes">
        {differences.map((change) => (
          <li key={change.path}>
            <code className="k">{inert(change.path || 'the whole')}</code>
            {'was' in change ? <Side mark="−" word="was" value={change.was} name="was" /> : null}
            {'is' in change ? <Side mark="+" word="is" value={change.is} name="is" /> : null}
          </li>
        ))}
      </ul>
      <div className="row">
        <button
          type="button"
          className="button"
          disabled={decide.isPending}
          onClick={() => decide.mutate(false)}
        >
          Accept as it is now
        </button>
        {blocked ? null : (
          <button
            type="button"
            className="button danger"
            disabled={decide.isPending}
            onClick={() => decide.mutate(true)}
          >
            Block
          </button>
        )}
      </div>
      {decide.error ? (
        <p className="note err" role="alert">
          {messageOf(decide.error)}
        </p>
      ) : null}
    </article>
  );
}
