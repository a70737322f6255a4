import { Link } from '@tanstack/react-router';
import { liveLink } from '../address/address';
import { ContentBlock } from '../calls/content-block';
import { NEXT_STEPS } from '../calls/next-steps';
import { Payload } from '../calls/payload';
import type { RequestError } from '../net/request';
import { InertText } from '../text/inert-text';

interface ResultOfProps {
  answer: { reply?: Record<string, unknown>; error?: RequestError };
  query: string;
}

export function ResultOf({ answer: { reply, error }, query }: ResultOfProps) {
  return (
    <section aria-label="Answer" aria-live="polite" className="stack">
      <h3 className="row">
        Answer
        {error || reply?.success === false ? (
          <span className="tag err">failed</span>
        ) : (
          <span className="tag ok">ok</span>
        )}
        <Link to={liveLink(query) as never}>in the log</Link>
      </h3>
      {error ? (
        <div className="note err">
          <strong className="mono">{error.code}</strong>
          <p>
            <InertText text={error.message} />
          </p>
          {NEXT_STEPS[error.code] ? <p className="dim">{NEXT_STEPS[error.code]}</p> : null}
        </div>
      ) : null}
      {reply?.structuredContent === undefined ? null : (
        <Payload title="Structured content" value={reply.structuredContent} />
      )}
      {Array.isArray(reply?.content)
        ? reply.content.map((block, index) => <ContentBlock block={block} key={index} />)
        : null}
    </section>
  );
}
