import type { ListedTool } from '../calls/use-tool-of';

/** What a tool says it does; what it does not say counts as the worst. */
export function Hints({ tool: { annotations = {} } }: { tool: ListedTool }) {
  const { readOnlyHint, destructiveHint, openWorldHint, idempotentHint } = annotations;
  const words = [
    readOnlyHint === true
      ? 'only reads'
      : destructiveHint === false
        ? 'writes'
        : readOnlyHint === undefined && destructiveHint === undefined
          ? 'says nothing'
          : 'may destroy',
    ...(idempotentHint === true ? ['twice is as once'] : []),
    ...(openWorldHint === false ? ['closed world'] : []),
  ];
  return <span className="dim hints">{words.join(', ')}</span>;
}
