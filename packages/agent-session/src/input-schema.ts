import { AppError, messageOf } from '@mcpbridge/shared/errors.js';
import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';
import { compileSchema } from '@mcpbridge/shared/validate.js';
import type { InputSchema, StandardIssue, StandardSchema } from './types.js';

/** A tool's arguments in two forms: what the model is told of them, and how they are read. */
export interface ToolInput {
  schema: JsonObject;
  /** Answers what the handler gets. @throws INVALID_ARGUMENTS naming each path and what was expected there. */
  read(args: JsonObject): Promise<unknown>;
}

type Reading = { value: unknown } | { faults: string[] };

interface Source {
  schema: JsonObject;
  read(args: JsonObject): Reading | Promise<Reading>;
}

/** @throws CONFIG_INVALID for a schema that nobody could use. */
export function toolInput(tool: string, given: InputSchema | undefined): ToolInput {
  const source = sourceOf(tool, given ?? { type: 'object', properties: {} });
  return {
    schema: source.schema,
    async read(args) {
      const first = await source.read(args);
      if ('value' in first) return first.value;
      const second = await source.read(withoutNulls(args));
      if ('value' in second) return second.value;
      const { faults } = first;
      const message = `The arguments do not fit "${tool}": ${faults.join('; ')}.`;
      throw new AppError('INVALID_ARGUMENTS', message, { details: { faults } });
    },
  };
}

/** Many models write null for what they leave out. */
function withoutNulls(args: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null));
}

function sourceOf(tool: string, schema: unknown): Source {
  if (isStandard(schema)) return fromStandard(tool, schema);
  if (isObject(schema)) return fromJsonSchema(tool, schema);
  throw unusable(tool, 'is not an object: give a JSON Schema or a Standard Schema');
}

/** Some libraries' schemas are functions. */
function isStandard(schema: unknown): schema is StandardSchema {
  if ((typeof schema !== 'object' && typeof schema !== 'function') || schema === null) return false;
  return '~standard' in schema && isObject(schema['~standard']);
}

function fromJsonSchema(tool: string, schema: JsonObject): Source {
  const check = compiled(tool, objectSchema(tool, schema));
  return {
    schema,
    read(args) {
      const faults = check(args);
      return faults.length === 0 ? { value: args } : { faults };
    },
  };
}

function fromStandard(tool: string, schema: StandardSchema): Source {
  const { jsonSchema, validate, vendor } = schema['~standard'];
  if (!jsonSchema) {
    throw unusable(
      tool,
      `of "${vendor}" cannot say itself as JSON Schema: give what its library makes of it (such as toJsonSchema(schema))`,
    );
  }
  return {
    schema: objectSchema(tool, converted(tool, jsonSchema)),
    async read(args) {
      const result = await validate(args);
      return result.issues ? { faults: result.issues.slice(0, 10).map(faultOf) } : { value: result.value };
    },
  };
}

function converted(
  tool: string,
  jsonSchema: NonNullable<StandardSchema['~standard']['jsonSchema']>,
): JsonObject {
  try {
    return jsonSchema.input({ target: 'draft-2020-12' });
  } catch (error) {
    throw unusable(tool, `cannot be said as JSON Schema: ${messageOf(error)}`);
  }
}

function compiled(tool: string, schema: JsonObject) {
  try {
    return compileSchema(schema);
  } catch (error) {
    throw unusable(tool, `is not a JSON Schema: ${messageOf(error)}`);
  }
}

/** MCP has arguments as an object, and clients drop tools that say otherwise. */
function objectSchema(tool: string, schema: JsonObject): JsonObject {
  if (schema.type === 'object') return schema;
  throw unusable(tool, 'must have "type": "object", because arguments come by name');
}

function faultOf({ message, path = [] }: StandardIssue): string {
  const keys = path.map((part) => String(typeof part === 'object' ? part.key : part));
  return `${keys.length === 0 ? '(root)' : `/${keys.join('/')}`}: ${message}`;
}

function unusable(tool: string, why: string): AppError {
  return new AppError('CONFIG_INVALID', `The inputSchema of the tool "${tool}" ${why}.`);
}
