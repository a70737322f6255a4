import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { isObject } from '@mcpbridge/shared/json-rpc.js';
import type { Reading } from './reading.js';

/** The variables of an entry's `envFile`, as VS Code has it: lines of NAME=value. What stands in `env` goes before them. */
export function readEnvFile({ raw, context, faults, fill }: Reading): Record<string, string> {
  if (typeof raw.envFile !== 'string') return {};
  const before = faults.length;
  const file = resolve(context.folder, fill('envFile', raw.envFile));
  if (faults.length > before) return {};
  try {
    const variables = Object.entries(parseEnv(readFileSync(file, 'utf8')));
    return Object.fromEntries(
      variables.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
    );
  } catch (error) {
    const why = isObject(error) && error.code === 'ENOENT' ? 'does not exist' : 'cannot be read';
    faults.push(`"envFile" names "${file}", which ${why}.`);
    return {};
  }
}
