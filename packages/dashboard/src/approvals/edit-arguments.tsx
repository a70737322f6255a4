import { useMemo, useState } from 'react';
import { readArguments } from '../calls/read-arguments';
import type { ListedTool } from '../calls/use-tool-of';
import { Dialog } from '../ui/dialog';

interface EditArgumentsProps {
  name: string;
  value: Record<string, unknown>;
  tool: ListedTool | undefined;
  onDone(edited: Record<string, unknown>): void;
  onClose(): void;
}

/** Other arguments for a call that waits, checked against the tool's schema; they are read through again before a yes. */
export function EditArguments({ name, value, tool, onDone, onClose }: EditArgumentsProps) {
  const before = useMemo(() => JSON.stringify(value, null, 2), [value]);
  const [text, setText] = useState(before);
  const { value: edited, faults } = useMemo(() => readArguments(text, tool), [text, tool]);
  return (
    <Dialog title={`Arguments of ${name}`} onClose={onClose} className="wide">
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (faults.length === 0) onDone(edited as Record<string, unknown>);
        }}
      >
        <label>
          <span className="label">
            As JSON; <code>[redacted]</code> stays the secret that it is
          </span>
          <textarea
            data-first
            className="field mono"
            rows={14}
            spellCheck={false}
            aria-invalid={faults.length > 0}
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        </label>
        {faults.length > 0 ? (
          <ul className="err-text" role="alert">
            {faults.map((fault) => (
              <li key={fault}>{fault}</li>
            ))}
          </ul>
        ) : null}
        <div className="row">
          <button type="submit" className="button primary" disabled={faults.length > 0}>
            Put in their place
          </button>
          <button type="button" className="button" onClick={onClose}>
            Leave as they were
          </button>
        </div>
      </form>
    </Dialog>
  );
}
