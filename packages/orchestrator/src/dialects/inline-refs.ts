import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';
import { both } from './join.js';
import { isSchema, mapChildren, type Schema, without } from './json-schema.js';

/** How often a definition may stand within itself; once where twice makes the whole too large. */
const TURNS = 2;
/** Schemas in one result: a few definitions that name each other many times would else grow without end. */
const MOST_NODES = 1000;

/** Every `$ref` exchanged for what it points at. What goes on without end is cut, and its description says so. */
export function inlineRefs(root: JsonObject): JsonObject {
  const { schema, isWhole } = inlined(root, TURNS);
  return isWhole ? schema : inlined(root, 1).schema;
}

function inlined(root: JsonObject, mostTurns: number): { schema: JsonObject; isWhole: boolean } {
  let nodes = 0;

  function inline(schema: Schema, open: readonly string[]): Schema {
    if (!isObject(schema)) return schema;
    nodes += 1;
    const { $ref: ref, ...beside } = schema;
    if (typeof ref !== 'string') return without(children(schema, open), '$defs', 'definitions');
    const target = pointedAt(root, ref);
    if (target === undefined)
      return { ...children(beside, open), description: told(beside, `As in ${ref}.`) };
    const turns = open.filter((pointer) => pointer === ref).length;
    if (turns >= mostTurns || nodes > MOST_NODES) {
      const again = `Once more a ${ref === '#' ? 'whole' : nameOf(ref)}, as described above.`;
      return { ...both(children(beside, open), kindOf(target)), description: told(beside, again) };
    }
    const whole = inline(target, [...open, ref]);
    return isObject(whole) ? both(children(beside, open), whole) : whole;
  }

  function children(schema: JsonObject, open: readonly string[]): JsonObject {
    const { $defs, definitions, ...rest } = schema;
    return mapChildren(rest, (child) => inline(child, open));
  }

  const schema = inline(root, ['#']);
  return { schema: isObject(schema) ? schema : root, isWhole: nodes <= MOST_NODES };
}

function kindOf(target: Schema): JsonObject {
  return isObject(target) && typeof target.type === 'string' ? { type: target.type } : {};
}

function told({ description }: JsonObject, more: string): string {
  return typeof description === 'string' ? `${description} ${more}` : more;
}

function nameOf(ref: string): string {
  const last = ref.split('/').at(-1) ?? ref;
  return decoded(last) ?? last;
}

/** References within the document; nothing is ever fetched. */
function pointedAt(root: JsonObject, ref: string): Schema | undefined {
  if (ref !== '#' && !ref.startsWith('#/')) return undefined;
  let at: unknown = root;
  for (const part of ref.split('/').slice(1)) {
    const key = decoded(part);
    if (key === undefined) return undefined;
    if (Array.isArray(at)) at = at[Number(key)];
    else at = isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined;
  }
  return isSchema(at) ? at : undefined;
}

function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    // No address of anything.
    return undefined;
  }
}
