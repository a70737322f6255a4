import type { JsonObject } from '@mcpbridge/shared/json-rpc.js';
import { inert } from '../text/inert';

interface MissionInputsProps {
  inputs: Record<string, JsonObject>;
  values: Record<string, string>;
  onChange(values: Record<string, string>): void;
}

/** What a mission asks for, a field each. */
export function MissionInputs({ inputs, values, onChange }: MissionInputsProps) {
  return (
    <div className="ask-choices">
      {Object.entries(inputs).map(([name, schema]) => (
        <label key={name}>
          <span className="label">
            <strong className="mono">{inert(name)}</strong>
            {schema.default === undefined ? ' *' : ''}{' '}
            {inert(String(schema.description ?? schema.type ?? ''))}
          </span>
          <input
            className="field"
            value={values[name] ?? ''}
            placeholder={schema.default === undefined ? '' : inert(shown(schema.default))}
            onChange={({ target }) => onChange({ ...values, [name]: target.value })}
          />
        </label>
      ))}
    </div>
  );
}

const shown = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));

/** What was typed, as the schemas want it; whether it fits is the orchestrator's to say. */
export function valuesOf(
  inputs: Record<string, JsonObject> | undefined,
  typed: Record<string, string>,
): JsonObject | undefined {
  const given = Object.entries(inputs ?? {}).filter(([name]) => (typed[name] ?? '') !== '');
  if (given.length === 0) return undefined;
  return Object.fromEntries(given.map(([name, { type }]) => [name, readValue(typed[name] ?? '', type)]));
}

function readValue(text: string, type: unknown): unknown {
  if (type === 'string') return text;
  try {
    return JSON.parse(text);
  } catch {
    return text; // The orchestrator says what is wrong with it.
  }
}
