export interface Schema {
  [key: string]: unknown;
  type?: string | string[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  enum?: unknown[];
  minimum?: number;
  format?: string;
  default?: unknown;
  anyOf?: Schema[];
}

/** A value that a schema takes: of every member, or of the required ones alone; two of each list. */
export function exampleOf({ anyOf: [first] = [], ...own }: Schema, isLeast: boolean, name = ''): unknown {
  const schema: Schema = { ...own, ...first };
  const [type] = [schema.type].flat();
  if (schema.enum) return schema.enum.at(-1);
  switch (type) {
    case 'object':
      return Object.fromEntries(
        Object.entries(schema.properties ?? {})
          .filter(([key]) => !isLeast || schema.required?.includes(key))
          .map(([key, inner]) => [key, exampleOf(inner, isLeast, key)]),
      );
    case 'array':
      return [1, 2].map((n) => exampleOf(schema.items ?? {}, isLeast, `${name} ${n}`));
    case 'integer':
      return Math.max(2, schema.minimum ?? 2);
    case 'number':
      return Math.max(1.5, schema.minimum ?? 1.5);
    case 'boolean':
      return true;
    default:
      if (schema.format === 'uri') return 'http://nowhere.invalid/?a=b';
      return `"${name}" \\ ${'ü'} {1}`;
  }
}

/** What a form begins with: the plain values that the schema says are usual. */
export function usualOf(schema: Schema): object {
  return Object.fromEntries(
    Object.entries(schema.properties ?? {}).flatMap(([key, inner]) =>
      inner.default !== undefined && typeof inner.default !== 'object' ? [[key, inner.default]] : [],
    ),
  );
}
