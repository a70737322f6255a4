import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';
import { meantName } from '@mcpbridge/shared/mistyped.js';
import { compileSchema } from '@mcpbridge/shared/validate.js';

const text = { type: 'string' };
/** People write ports and switches without quotation marks; null takes a variable away. */
const values = { type: 'object', additionalProperties: { type: ['string', 'number', 'boolean', 'null'] } };
const textOrNumber = { type: ['string', 'number'] };
const words = { type: 'array', items: { type: ['string', 'number', 'boolean'] } };

const dockerProperties: JsonObject = {
  image: text,
  command: words,
  mounts: { type: 'array', items: text },
  memory: textOrNumber,
  cpus: textOrNumber,
  network: text,
  env: values,
};

/** What we read of an entry, under every name that people already use for it. */
const properties: JsonObject = {
  command: text,
  args: words,
  env: values,
  envFile: text,
  cwd: text,
  working_dir: text,
  url: text,
  serverUrl: text,
  httpUrl: text,
  headers: values,
  allowPrivate: { type: 'boolean' },
  type: text,
  protocol: text,
  transport: text,
  isolation: { enum: ['session', 'shared'] },
  timeout: textOrNumber,
  startTimeout: textOrNumber,
  warm: { type: ['boolean', 'integer'], minimum: 0 },
  turns: { type: 'object', additionalProperties: { type: 'array', items: text, minItems: 1 } },
  description: { type: 'string' },
  disabled: { type: 'boolean' },
  enabled: { type: 'boolean' },
  oauth: { type: 'object' },
  docker: { type: 'object', properties: dockerProperties },
};

const check = compileSchema({ type: 'object', properties });

/** One sentence for each field that is misspelt or of the wrong kind. */
export function shapeFaults(raw: JsonObject): string[] {
  const faults: string[] = [];
  for (const key of Object.keys(raw)) {
    const meant = key in properties ? undefined : meantName(key, Object.keys(properties));
    // What is like none of ours belongs to another client, and means nothing here.
    if (meant) faults.push(`"${key}" is not known; did you mean "${meant}"?`);
  }
  if (isObject(raw.docker)) faults.push(...dockerFaults(raw.docker));
  for (const line of check(raw)) faults.push(asSentence(line));
  return faults;
}

/** Nobody but us reads what stands in `docker`, so nothing in it may be unknown. */
function dockerFaults(docker: JsonObject): string[] {
  const known = Object.keys(dockerProperties);
  const strange = Object.keys(docker).filter((key) => !known.includes(key));
  return strange.map((key) => {
    const meant = meantName(key, known);
    return `"docker.${key}" is not known; ${meant ? `did you mean "${meant}"?` : `there are ${known.join(', ')}.`}`;
  });
}

/** `/env/TOKEN: must be string, got object` as `"env.TOKEN" must be string, got object.` */
function asSentence(line: string): string {
  const end = line.indexOf(': ');
  const path = line.slice(1, end).replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~');
  const expected = line
    .slice(end + 2)
    .replace(
      /^must be ([a-z]+(?:,[a-z]+)+)/,
      (_, kinds: string) => `must be ${kinds.replaceAll(',', ' or ')}`,
    );
  return `"${path}" ${expected}.`;
}
