import type {
  ArrayFieldTemplateProps,
  FieldTemplateProps,
  ObjectFieldTemplateProps,
  WidgetProps,
} from '@rjsf/utils';
import { inert } from '../text/inert';
import { InertText } from '../text/inert-text';
import { JsonField } from './json-field';

/** Label, type and limits of a field beside it, in the page's own look. */
function FieldTemplate({
  id,
  label,
  required,
  schema,
  children,
  hidden,
  displayLabel,
  rawErrors,
  uiSchema,
}: FieldTemplateProps) {
  if (hidden) return <div hidden>{children}</div>;
  const isPlain = schema.type !== 'object' && schema.type !== 'array';
  return (
    <div className="field-row">
      {displayLabel && isPlain && schema.type !== 'boolean' && uiSchema?.['ui:field'] === undefined ? (
        <label className="label" htmlFor={id}>
          <strong className="mono">{inert(label)}</strong>
          {required ? ' *' : ''} <span>{aboutOf(schema)}</span>
        </label>
      ) : null}
      {children}
      {schema.description && isPlain ? (
        <p className="dim">
          <InertText text={String(schema.description).slice(0, 600)} />
        </p>
      ) : null}
      {rawErrors?.map((line) => (
        <p className="err-text" key={line}>
          {line}
        </p>
      ))}
    </div>
  );
}

function aboutOf(schema: FieldTemplateProps['schema']): string {
  const { type, minimum, maximum, minLength, maxLength, format, default: usual } = schema;
  return [
    Array.isArray(type) ? type.join(' or ') : type,
    format,
    minimum === undefined ? '' : `from ${minimum}`,
    maximum === undefined ? '' : `to ${maximum}`,
    minLength === undefined ? '' : `at least ${minLength} characters`,
    maxLength === undefined ? '' : `at most ${maxLength} characters`,
    usual === undefined ? '' : `default ${JSON.stringify(usual)}`,
  ]
    .filter(Boolean)
    .join(', ');
}

function ObjectTemplate({
  title,
  description,
  properties,
  schema,
  onAddProperty,
  fieldPathId,
}: ObjectFieldTemplateProps) {
  const isRoot = fieldPathId?.$id === 'argument';
  return (
    <fieldset>
      {isRoot ? (
        <legend className="hidden-text">Arguments</legend>
      ) : (
        <legend className="mono">{inert(title)}</legend>
      )}
      {!isRoot && description ? (
        <p className="dim">{typeof description === 'string' ? <InertText text={description} /> : null}</p>
      ) : null}
      <div className={isRoot ? '' : 'nested'}>{properties.map(({ content }) => content)}</div>
      {properties.length === 0 && isRoot ? <p className="said">It takes no arguments.</p> : null}
      {schema.additionalProperties ? (
        <button type="button" className="button small" onClick={onAddProperty}>
          Add a member
        </button>
      ) : null}
    </fieldset>
  );
}

function ArrayTemplate({ title, items, canAdd, onAddClick, schema }: ArrayFieldTemplateProps) {
  return (
    <fieldset>
      <legend className="mono">
        {inert(title)} <span className="dim">list</span>
      </legend>
      {schema.description ? (
        <p className="dim">
          <InertText text={String(schema.description).slice(0, 600)} />
        </p>
      ) : null}
      <div className="nested">{items}</div>
      {canAdd ? (
        <button type="button" className="button small" onClick={onAddClick}>
          Add to {inert(title)}
        </button>
      ) : null}
    </fieldset>
  );
}

function TextWidget({ id, value, required, disabled, onChange, schema, options }: WidgetProps) {
  const isNumber = schema.type === 'number' || schema.type === 'integer';
  return (
    <input
      id={id}
      className="field"
      type={isNumber ? 'number' : 'text'}
      step={schema.type === 'integer' ? 1 : 'any'}
      required={required}
      disabled={disabled}
      value={value ?? ''}
      onChange={({ target }) =>
        onChange(target.value === '' ? options.emptyValue : isNumber ? Number(target.value) : target.value)
      }
    />
  );
}

function CheckboxWidget({ id, value, label, onChange, schema }: WidgetProps) {
  return (
    <label className="row" htmlFor={id}>
      <input
        id={id}
        type="checkbox"
        checked={value === true}
        onChange={({ target }) => onChange(target.checked)}
      />
      <strong className="mono">{inert(label)}</strong>{' '}
      <span className="dim">boolean{schema.default === undefined ? '' : `, default ${schema.default}`}</span>
    </label>
  );
}

function SelectWidget({ id, value, required, options, onChange, multiple }: WidgetProps) {
  const choices = options.enumOptions ?? [];
  const at = choices.findIndex((choice) => choice.value === value);
  return (
    <select
      id={id}
      className="field"
      required={required}
      value={multiple ? undefined : at}
      onChange={({ target }) => onChange(choices[Number(target.value)]?.value)}
    >
      <option value={-1} />
      {choices.map(({ label }, index) => (
        <option key={label} value={index}>
          {inert(String(label))}
        </option>
      ))}
    </select>
  );
}

export const formFields = { JsonField };
export const formTemplates = {
  FieldTemplate,
  ObjectFieldTemplate: ObjectTemplate,
  ArrayFieldTemplate: ArrayTemplate,
};
export const formWidgets = {
  TextWidget,
  CheckboxWidget,
  SelectWidget,
  UpDownWidget: TextWidget,
  PasswordWidget: TextWidget,
};
