import type { DialectName } from '@mcpbridge/shared/dialect-names.js';

type Json = Record<string, unknown>;
export interface ListedTool extends Json {
  name: string;
  inputSchema: Json;
}

/** What a client of a dialect, or the model API behind it, is known to refuse; each rule names what breaks it. */
type Rule = (schema: Json, path: string) => string | undefined;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const includes = (schema: Json, type: string) =>
  schema.type === type || (Array.isArray(schema.type) && schema.type.includes(type));
const refuse =
  (...keys: string[]): Rule =>
  (schema) =>
    keys.find((key) => key in schema);

const atRoot: Rule = (schema, path) =>
  path === '' ? refuse('anyOf', 'oneOf', 'allOf', 'not', '$ref', 'enum')(schema, path) : undefined;
const oldTuple: Rule = (schema) => (Array.isArray(schema.items) ? 'items as a list' : undefined);
const incomplete: Rule = (schema) => {
  if (includes(schema, 'array') && !isObject(schema.items)) return 'array without items';
  return includes(schema, 'object') && !isObject(schema.properties) ? 'object without properties' : undefined;
};
const typeList: Rule = (schema) => (Array.isArray(schema.type) ? 'type as a list' : undefined);
const oddEnum: Rule = (schema) =>
  'enum' in schema &&
  (schema.type !== 'string' || !(schema.enum as unknown[]).every((value) => typeof value === 'string'))
    ? 'enum of others than strings'
    : undefined;
const unionBesideOthers: Rule = (schema) =>
  'anyOf' in schema && Object.keys(schema).length > 1 ? 'anyOf beside others' : undefined;
const requiredOnly: Rule = (schema) =>
  (schema.required as string[] | undefined)?.find((name) => !(name in (schema.properties as Json)));
const wrongKind: Rule = (schema) => {
  if ('properties' in schema && schema.type !== 'object') return 'properties of no object';
  return 'items' in schema && schema.type !== 'array' ? 'items of no array' : undefined;
};
const GEMINI = ['type', 'description', 'nullable', 'enum', 'items', 'properties', 'required', 'anyOf'];
const unknown: Rule = (schema) => Object.keys(schema).find((key) => !GEMINI.includes(key));

const noRefs = refuse('$ref', '$defs', 'definitions');
const common = [atRoot, oldTuple, noRefs, incomplete];
const gemini = [...common, unknown, typeList, oddEnum, unionBesideOthers, requiredOnly, wrongKind];
const RULES: Record<Exclude<DialectName, 'off'>, Rule[]> = {
  claude: [atRoot, oldTuple],
  openai: [...common, refuse('oneOf', 'allOf', 'prefixItems')],
  gemini,
  copilot: [...common, typeList],
  vscode: [...common, typeList],
  cursor: [...common, typeList],
  opencode: common,
  portable: gemini,
};

/** With a server called `bridge` in the client's configuration. */
const NAMES: Record<Exclude<DialectName, 'off'>, RegExp> = {
  claude: /^mcp__bridge__[A-Za-z0-9_-]{1,115}$/,
  openai: /^bridge__[A-Za-z0-9_-]{1,56}$/,
  gemini: /^mcp_bridge_[A-Za-z0-9_.-]{1,52}$/,
  copilot: /^bridge-[A-Za-z0-9_-]{1,57}$/,
  vscode: /^mcp_bridge_[A-Za-z0-9_-]{1,53}$/,
  cursor: /^bridge_[A-Za-z0-9_-]{1,52}$/,
  opencode: /^bridge_[A-Za-z0-9_-]{1,57}$/,
  portable: /^mcp_bridge_[A-Za-z0-9_]{1,52}$/,
};
const PREFIX: Partial<Record<DialectName, string>> = {
  claude: 'mcp__bridge__',
  openai: 'bridge__',
  gemini: 'mcp_bridge_',
  copilot: 'bridge-',
  vscode: 'mcp_bridge_',
  portable: 'mcp_bridge_',
};

/** One line for each thing that would be refused. */
export function refusals(dialect: Exclude<DialectName, 'off'>, tools: readonly ListedTool[]): string[] {
  const prefix = PREFIX[dialect] ?? 'bridge_';
  const names = tools.map((tool) => `${prefix}${tool.name}`).filter((name) => !NAMES[dialect].test(name));
  const faults = tools.flatMap((tool) =>
    walk(tool.inputSchema, '', RULES[dialect]).map((fault) => `${tool.name}${fault}`),
  );
  return [...names, ...faults];
}

function walk(schema: unknown, path: string, rules: readonly Rule[]): string[] {
  if (!isObject(schema)) return typeof schema === 'boolean' ? [] : [`${path}: no schema`];
  const own = rules.flatMap((rule) => {
    const broken = rule(schema, path);
    return broken === undefined ? [] : [`${path}: ${broken}`];
  });
  return [...own, ...childrenOf(schema).flatMap(([key, child]) => walk(child, `${path}/${key}`, rules))];
}

function childrenOf(schema: Json): [string, unknown][] {
  const named = ['properties', 'patternProperties', '$defs', 'definitions'].flatMap((key) =>
    isObject(schema[key]) ? Object.entries(schema[key]) : [],
  );
  const lists = ['anyOf', 'oneOf', 'allOf', 'prefixItems'].flatMap((key): [string, unknown][] =>
    Array.isArray(schema[key])
      ? (schema[key] as unknown[]).map((child, index) => [`${key}/${index}`, child])
      : [],
  );
  const single = ['items', 'additionalProperties', 'not'].flatMap((key): [string, unknown][] =>
    isObject(schema[key]) ? [[key, schema[key]]] : [],
  );
  return [...named, ...lists, ...single];
}
