export const REDACTED = '[redacted]';

const SECRET_NAME =
  /passw(or)?d|passphrase|pwd|secret|token|apikey|accesskey|privatekey|signingkey|encryptionkey|authorization|cookie|credential|connectionstring|^auth$|^bearer$|^jwt$/;

/** Names come again and again with every call. */
const known = new Map<string, boolean>();
const KNOWN_LIMIT = 5000;

/** True for names of properties, variables, flags and headers that hold secrets, in any case and with any separators. */
export function isSecretName(name: string): boolean {
  let secret = known.get(name);
  if (secret === undefined) {
    secret = SECRET_NAME.test(name.replace(/[^a-zA-Z0-9]/g, '').toLowerCase());
    if (known.size >= KNOWN_LIMIT) known.clear();
    known.set(name, secret);
  }
  return secret;
}

/** Levels that are looked through where no other number is said. */
const DEPTH = 32;

interface RedactLimits {
  /** Levels of objects and arrays; what lies deeper is left out. */
  depth?: number;
  /** Characters of text in all; longer strings are cut, and what comes after is left out. */
  characters?: number;
  /** Blanks what is a secret within a text; applied before a text is cut. */
  hide?: (text: string) => string;
}

/** True when a copy by `redactByKey` would differ from the value. */
export function holdsSecret(value: unknown, hide: (text: string) => string, depth = DEPTH): boolean {
  if (typeof value === 'string') return hide(value) !== value;
  if (typeof value !== 'object' || value === null) return false;
  if (depth === 0) return true;
  if (Array.isArray(value)) return value.some((item) => holdsSecret(item, hide, depth - 1));
  for (const name in value) {
    const inner: unknown = (value as Record<string, unknown>)[name];
    if (hides(name, inner) || hide(name) !== name || holdsSecret(inner, hide, depth - 1)) return true;
  }
  return false;
}

/**
 * As `holdsSecret` of what a JSON text stands for, without reading it: true also where only reading would tell. The text
 * is one that JSON.stringify wrote.
 */
export function mayHoldSecret(json: string, hide: (text: string) => string): boolean {
  return hide(json) !== json || hasSecretName(json) || mayBeDeep(json);
}

/** The quote before a colon ends a name, or is within a text, and then a backslash stands before it. */
function hasSecretName(json: string): boolean {
  for (let end = json.indexOf('":'); end >= 0; end = json.indexOf('":', end + 2)) {
    const begin = json.lastIndexOf('"', end - 1);
    const name = json.slice(begin + 1, end);
    if (json[begin - 1] === '\\' || name.includes('\\') || isSecretName(name)) return true;
  }
  return false;
}

/** No more levels than there are brackets. */
function mayBeDeep(json: string): boolean {
  let brackets = 0;
  for (let at = 0; at < json.length && brackets <= DEPTH; at += 1) {
    const code = json.charCodeAt(at);
    if (code === 0x5b || code === 0x7b) brackets += 1;
  }
  return brackets > DEPTH;
}

interface Budget {
  characters: number;
  hide: ((text: string) => string) | undefined;
}

/**
 * A copy of a JSON value in which what stands under a secret's name is `[redacted]`, whatever it is.
 * Booleans and nothing stay, and numbers under a name of tokens, which count them.
 */
export function redactByKey(value: unknown, limits: RedactLimits = {}): unknown {
  const budget = { characters: limits.characters ?? 16 * 1024 * 1024, hide: limits.hide };
  return copy(value, limits.depth ?? DEPTH, budget);
}

function copy(value: unknown, depth: number, budget: Budget): unknown {
  if (typeof value === 'string') {
    const text = budget.hide ? budget.hide(value) : value;
    const kept = text.length <= budget.characters ? text : text.slice(0, Math.max(0, budget.characters));
    budget.characters -= kept.length;
    return kept;
  }
  budget.characters -= 1;
  if (typeof value !== 'object' || value === null) return value;
  if (depth === 0) return '[too deep]';
  return Array.isArray(value) ? copyArray(value, depth, budget) : copyObject(value, depth, budget);
}

function copyArray(value: unknown[], depth: number, budget: Budget): unknown[] {
  const items: unknown[] = [];
  for (const item of value) {
    if (budget.characters <= 0) break;
    items.push(copy(item, depth - 1, budget));
  }
  return items;
}

function copyObject(value: object, depth: number, budget: Budget): object {
  const result: Record<string, unknown> = {};
  for (const [name, inner] of Object.entries(value)) {
    if (budget.characters <= 0) break;
    budget.characters -= name.length;
    const shown = hides(name, inner) ? REDACTED : copy(inner, depth - 1, budget);
    // Assigned, this one name would become the object's prototype.
    if (name === '__proto__') Object.defineProperty(result, name, { value: shown, enumerable: true });
    else result[budget.hide ? budget.hide(name) : name] = shown;
  }
  return result;
}

function hides(name: string, value: unknown): boolean {
  if (value === null || value === undefined || typeof value === 'boolean') return false;
  if (!isSecretName(name)) return false;
  return !(typeof value === 'number' && /token/i.test(name));
}
