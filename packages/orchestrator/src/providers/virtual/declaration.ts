import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';

const MAX_DEPTH = 4;
const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;

/** A tool as a function of TypeScript: `tools.github__create_issue(args: { title: string; body?: string })`. */
export function declarationOf(name: string, inputSchema: JsonObject): string {
  const access = IDENTIFIER.test(name) ? `tools.${name}` : `tools[${JSON.stringify(name)}]`;
  const type = typeOf(inputSchema, 0);
  return `${access}(${type === '{}' ? '' : `args: ${type}`})`;
}

/** What it does not know is `unknown`: the schema itself is there for who needs it. */
function typeOf(schema: unknown, depth: number): string {
  if (!isObject(schema)) return 'unknown';
  const { type, enum: values, const: only, anyOf, oneOf, items, properties } = schema;
  if (Array.isArray(values)) return values.map((value) => JSON.stringify(value)).join(' | ');
  if (only !== undefined) return JSON.stringify(only);
  const several = anyOf ?? oneOf;
  if (Array.isArray(several)) return unionOf(several.map((one) => typeOf(one, depth)));
  if (Array.isArray(type)) return unionOf(type.map((one) => typeOf({ ...schema, type: one }, depth)));
  if (type === 'integer') return 'number';
  if (type === 'string' || type === 'number' || type === 'boolean' || type === 'null') return type;
  if (type === 'array') return `Array<${depth < MAX_DEPTH ? typeOf(items, depth + 1) : 'unknown'}>`;
  if (type !== 'object' && !isObject(properties)) return 'unknown';
  return depth < MAX_DEPTH ? objectOf(schema, depth + 1) : 'object';
}

function objectOf({ properties, required }: JsonObject, depth: number): string {
  const must = Array.isArray(required) ? required : [];
  const members = Object.entries(isObject(properties) ? properties : {}).map(([name, schema]) => {
    const key = IDENTIFIER.test(name) ? name : JSON.stringify(name);
    return `${key}${must.includes(name) ? '' : '?'}: ${typeOf(schema, depth)}`;
  });
  return members.length === 0 ? '{}' : `{ ${members.join('; ')} }`;
}

function unionOf(types: string[]): string {
  return [...new Set(types)].join(' | ');
}
