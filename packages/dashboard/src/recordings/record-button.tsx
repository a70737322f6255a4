import { Link } from '@tanstack/react-router';
import { Circle, Square } from 'lucide-react';
import { useRecorder } from './use-recordings';

/** Writes a session down from now on, frame by frame, or ends that. */
export function RecordButton({ session }: { session: string }) {
  const { running, toggle, fault } = useRecorder(session);
  return (
    <>
      <button type="button" className="button" aria-pressed={running !== undefined} onClick={toggle}>
        {running ? (
          <>
            <Square size={16} strokeWidth={1.5} aria-hidden /> End recording
          </>
        ) : (
          <>
            <Circle size={16} strokeWidth={1.5} aria-hidden /> Record
          </>
        )}
      </button>
      {running ? (
        <Link to={`/recordings/${encodeURIComponent(running.name)}` as never}>what is recorded</Link>
      ) : null}
      {fault ? (
        <p className="note err" role="alert">
          {fault}
        </p>
      ) : null}
    </>
  );
}
