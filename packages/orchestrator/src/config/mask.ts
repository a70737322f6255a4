import { isObject } from '@mcpbridge/shared/json-rpc.js';
import { hides, MASK, mapValues, maskField, maskText, maskWhole } from './mask-value.js';

const HEADER_FLAG = /^(--header|-H)$/;
const ENV_FLAG = /^(--env|-e)$/;

/** An entry as people wrote it, without what could be a secret; placeholders stay. */
export function maskEntry(raw: unknown): unknown {
  if (!isObject(raw)) return raw;
  return mapValues(raw, (name, value) => {
    if (name === 'docker' && isObject(value)) return mapValues(value, maskWords);
    return maskWords(name, value);
  });
}

function maskWords(name: string, value: unknown): unknown {
  if ((name !== 'args' && name !== 'command') || !Array.isArray(value)) return maskField(name, value);
  return value.map((arg, index) => maskArg(arg, value[index - 1]));
}

/** `--token x`, `--token=x`, `TOKEN=x`, `-e NAME=x`, `--header "Name: x"`, and what any text may hold. */
function maskArg(arg: unknown, before: unknown): unknown {
  const flag = typeof before === 'string' && before.startsWith('-') ? before : '';
  if (typeof arg !== 'string') return hides(flag) ? MASK : arg;
  if (hides(flag) && !arg.startsWith('--')) return maskWhole(arg);
  if (HEADER_FLAG.test(flag)) return maskAfter(arg, /^[^:]*:\s*/);
  if (ENV_FLAG.test(flag)) return maskAfter(arg, /^[^=]*=/);
  const [, name, value] = /^(-*\w[\w-]*)=(.*)$/s.exec(arg) ?? [];
  if (name === undefined) return maskText(arg);
  return `${name}=${hides(name) ? maskWhole(value) : maskArg(value, name)}`;
}

function maskAfter(text: string, head: RegExp): string {
  const [kept] = head.exec(text) ?? [];
  return kept === undefined ? text : `${kept}${maskWhole(text.slice(kept.length))}`;
}
