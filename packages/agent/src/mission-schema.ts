import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';
import { policyProperties } from '@mcpbridge/shared/policy.js';
import { compileSchema } from '@mcpbridge/shared/validate.js';

const tools = isObject(policyProperties.tools) ? policyProperties.tools.properties : undefined;
const patterns = isObject(tools) ? tools.approve : {};
const tokens: JsonObject = { type: 'integer', minimum: 1 };
const dollars: JsonObject = { type: 'number', minimum: 0 };

export const limitsSchema: JsonObject = {
  type: 'object',
  properties: {
    iterations: { type: 'integer', minimum: 1, maximum: 1000 },
    time: { type: ['integer', 'string'], pattern: '^\\d+(\\.\\d+)?(ms|s|m|h)?$' },
    tokens,
    cost: { type: 'number', exclusiveMinimum: 0 },
  },
  additionalProperties: false,
};

export const prefixesSchema: JsonObject = {
  type: 'array',
  maxItems: 200,
  items: { type: 'string', pattern: '^[A-Za-z0-9_-]{1,100}$' },
};

/** What a mission file may say; `docs/agent.md` shows one. */
export const missionSchema: JsonObject = {
  type: 'object',
  properties: {
    description: { type: 'string' },
    instructions: { type: 'string' },
    brain: { type: 'string' },
    fallbacks: { type: 'array', items: { type: 'string' } },
    window: { type: 'integer', minimum: 1000 },
    maxTokens: tokens,
    thinkingTokens: { type: 'integer', minimum: 1024 },
    images: { type: 'boolean' },
    price: {
      type: 'object',
      properties: { input: dollars, output: dollars, cached: dollars, cacheWritten: dollars },
      required: ['input', 'output'],
      additionalProperties: false,
    },
    strategy: { enum: ['auto', 'react', 'parallel', 'plan'] },
    allowedPrefixes: prefixesSchema,
    approve: patterns,
    limits: limitsSchema,
    inputs: { type: 'object', additionalProperties: { type: 'object' } },
    output: { type: 'object' },
    subAgents: { type: 'boolean' },
  },
  additionalProperties: false,
};

/** Schemas in it that are none. */
export function inputFaults({ inputs, output }: JsonObject): string[] {
  const faults: string[] = [];
  const schemas = Object.entries(isObject(inputs) ? inputs : {}).map(([name, schema]) => [
    `/inputs/${name}`,
    schema,
  ]);
  if (output !== undefined) schemas.push(['/output', output]);
  for (const [place, schema] of schemas) {
    try {
      if (isObject(schema)) compileSchema(schema);
    } catch {
      faults.push(`${place}: is no JSON Schema`);
    }
  }
  return faults;
}
