/** Objects and arrays in one message: in memory each takes many times the two bytes that it takes on the wire. */
export const MAX_CONTAINERS = 2_000_000;

const QUOTE = '"'.charCodeAt(0);
const BACKSLASH = '\\'.charCodeAt(0);
const BRACKET = '['.charCodeAt(0);
const BRACE = '{'.charCodeAt(0);

/** True for JSON that would fill the memory if it were read. Costs next to nothing where the bytes are mostly text. */
export function holdsTooMany(json: Buffer): boolean {
  return (
    json.length > MAX_CONTAINERS && hasMarks(json, MAX_CONTAINERS) && containersIn(json) > MAX_CONTAINERS
  );
}

/** More opening marks than `limit`, those within texts too. */
function hasMarks(json: Buffer, limit: number): boolean {
  let marks = 0;
  for (const mark of [BRACKET, BRACE]) {
    for (let at = json.indexOf(mark); at !== -1; at = json.indexOf(mark, at + 1))
      if (++marks > limit) return true;
  }
  return false;
}

function containersIn(json: Buffer): number {
  let containers = 0;
  let inText = false;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at];
    if (byte === BACKSLASH) at++;
    else if (byte === QUOTE) inText = !inText;
    else if (!inText && (byte === BRACKET || byte === BRACE)) containers++;
  }
  return containers;
}
