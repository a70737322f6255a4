import type { CallDetails } from '@mcpbridge/shared/call-row.js';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { request } from '../net/request';
import { bytes } from '../text/units';
import { Failure } from '../ui/states';
import { isOver } from './call';
import { ContentBlock } from './content-block';
import { Elapsed } from './elapsed';
import { Payload } from './payload';

/** Above this the file is offered beside the page's own view. */
const OFFER_FILE = 10_000_000;

/** What the tool answered: its error, structured content, texts, images, links, and what nobody knows, raw. */
export function ResultView({ call }: { call: CallDetails }) {
  const [isWanted, setWanted] = useState(false);
  const path = `/api/calls/${encodeURIComponent(call.id)}/result`;
  const { data, error, isFetching } = useQuery({
    queryKey: ['result', call.id],
    queryFn: ({ signal }) => request<unknown>(path, { signal }),
    enabled: isWanted,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    retry: false,
  });
  const result = call.result ?? data;
  const size = call.resultBytes ?? call.out ?? 0;
  if (!isOver(call))
    return (
      <Said>
        No result yet, {call.status === 'waiting' ? 'waiting' : 'running'} <Elapsed since={call.at} />.
      </Said>
    );
  if (result !== undefined) return <Shown result={result} size={size} />;
  if (error) return <Failure error={error} />;
  if (call.resultKept)
    return (
      <section aria-label="Result">
        <h3>
          Result <span className="dim">{bytes(size)}</span>
        </h3>
        <div className="row wrap">
          <button type="button" className="button" disabled={isFetching} onClick={() => setWanted(true)}>
            {isFetching ? 'Loading …' : `Load ${bytes(size)}`}
          </button>
          {size > OFFER_FILE ? (
            <a className="button quiet" href={path} download={`${call.id}.json`}>
              Save as a file
            </a>
          ) : null}
        </div>
      </section>
    );
  if (call.status !== 'ok') return <Said>There is no result: the call did not get that far.</Said>;
  return <Said>Its result{size > 0 ? ` of ${bytes(size)}` : ''} was not kept.</Said>;
}

function Said({ children }: { children: React.ReactNode }) {
  return (
    <section aria-label="Result">
      <h3>Result</h3>
      <p className="said">{children}</p>
    </section>
  );
}

function Shown({ result, size }: { result: unknown; size: number }) {
  if (typeof result !== 'object' || result === null)
    return <Payload title="Result" value={result} bytes={size} />;
  const { content, structuredContent, isError } = result as {
    content?: unknown;
    structuredContent?: unknown;
    isError?: boolean;
  };
  const blocks = Array.isArray(content) ? content : [];
  const hasStructure = structuredContent !== undefined;
  return (
    <section aria-label="Result" className="stack">
      <h3>
        Result <span className="dim">{bytes(size)}</span>{' '}
        {isError ? <span className="tag err">isError</span> : null}
      </h3>
      {blocks.length === 0 ? (
        <p className="said">{hasStructure ? 'Structured content only.' : 'No content.'}</p>
      ) : null}
      {hasStructure ? <Payload title="Structured content" value={structuredContent} maxHeight={420} /> : null}
      {blocks.map((block, index) => (
        <ContentBlock block={block} key={index} />
      ))}
    </section>
  );
}
