import type { FieldProps } from '@rjsf/utils';
import { useState } from 'react';
import { inert } from '../text/inert';

/** A part of the arguments that no form can show, as its JSON. */
export function JsonField({ name, formData, onChange, schema, required, fieldPathId }: FieldProps) {
  const [text, setText] = useState(() => (formData === undefined ? '' : JSON.stringify(formData)));
  const [isBroken, setBroken] = useState(false);
  const write = (typed: string) => {
    setText(typed);
    try {
      onChange(typed.trim() === '' ? undefined : JSON.parse(typed), fieldPathId.path);
      setBroken(false);
    } catch {
      setBroken(true); // It is being typed; what was read last stays.
    }
  };
  return (
    <label>
      <span className="label">
        <strong className="mono">{inert(schema.title ?? name)}</strong>
        {required ? ' *' : ''} as JSON
      </span>
      <textarea
        className="field mono"
        rows={2}
        spellCheck={false}
        aria-invalid={isBroken}
        value={text}
        onChange={({ target }) => write(target.value)}
      />
    </label>
  );
}
