import { count } from '../text/units';

/** Losses are said in figures, never left out. */
export function MissingRow({ missing, lost, reload }: { missing: number; lost: number; reload(): void }) {
  if (missing === 0 && lost === 0) return null;
  return (
    <div className="note wait row wrap" role="status">
      <span className="grow">
        {missing > 0
          ? `${missing === 1 ? '1 call' : `${count(missing)} calls`} not shown: they came while nobody looked here, or the connection was lost. `
          : ''}
        {lost > 0
          ? `${count(lost)} calls could not be kept in the log since the start: its disk is full or too slow.`
          : ''}
      </span>
      {missing > 0 ? (
        <button type="button" className="button" onClick={reload}>
          Load {missing === 1 ? 'it' : 'them'}
        </button>
      ) : null}
    </div>
  );
}
