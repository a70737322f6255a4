import type { FieldProps } from '@rjsf/utils';
import { useState } from 'react';
import { inert } from '../text/inert';

/** A part of the arguments that no form can show, as its JSON. */
export function JsonField({ name, formData, onChange, schema, required, fieldPathId }: FieldProps) {
  const value = formData === undefined ? '' : JSON.stringify(formData);
  const [text, setText] = useState(value);
  const [read, setRead] = useState(value);
  const [isBroken, setBroken] = useState(false);
  if (value !== read) {
    // What was typed here has arrived, or the value was written elsewhere: beside the form, or taken from a call.
    setRead(value);
    if (value !== valueIn(text)) {
      setText(value);
      setBroken(false);
    }
  }
  const write = (typed: string) => {
    setText(typed);
    const next = valueIn(typed);
    setBroken(next === undefined);
    // What is no JSON yet is being typed; what was read last stays.
    if (next !== undefined) onChange(next === '' ? undefined : JSON.parse(next), fieldPathId.path);
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
        id={fieldPathId.$id}
        aria-invalid={isBroken}
        value={text}
        onChange={({ target }) => write(target.value)}
      />
    </label>
  );
}

/** As it is written shortest; empty of nothing, undefined of what is no JSON. */
function valueIn(text: string): string | undefined {
  try {
    return text.trim() === '' ? '' : JSON.stringify(JSON.parse(text));
  } catch {
    return undefined;
  }
}
