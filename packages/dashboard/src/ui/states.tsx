import { type ReactNode, useEffect, useState } from 'react';
import { messageOf } from '../net/request';
import { CopyButton } from './copy-button';

/** Skeleton rows after 150 ms, words after 2 s. */
export function Loading({ what, rows = 6 }: { what: string; rows?: number }) {
  const [stage, setStage] = useState(0);
  useEffect(() => {
    const timers = [150, 2000].map((ms, index) => setTimeout(() => setStage(index + 1), ms));
    return () => timers.forEach(clearTimeout);
  }, []);
  if (stage === 0) return null;
  return (
    <div className="loading" role="status">
      {stage === 2 ? <p className="dim">Loading {what} …</p> : <span className="hidden-text">Loading</span>}
      {Array.from({ length: rows }, (_, index) => (
        <div className="skeleton" key={index} />
      ))}
    </div>
  );
}

export function Failure({ error, retry }: { error: unknown; retry?: () => void }) {
  return (
    <div className="note err row wrap" role="alert">
      <span className="grow">{messageOf(error)}</span>
      {retry ? (
        <button type="button" className="button" onClick={retry}>
          Retry
        </button>
      ) : null}
    </div>
  );
}

/** What to do next, where there is nothing yet. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

export function Command({ text }: { text: string }) {
  return (
    <div className="command row">
      <pre className="grow">{text}</pre>
      <CopyButton text={text} />
    </div>
  );
}
