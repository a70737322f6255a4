import { AppError } from '@mcpbridge/shared/errors.js';
import { LineReader } from '@mcpbridge/shared/framing.js';
import { isObject, type RpcId } from '@mcpbridge/shared/json-rpc.js';
import { oversizeId } from '@mcpbridge/shared/oversize-id.js';
import { holdsTooMany, MAX_CONTAINERS } from '../bounds/intricate.js';
import type { LineRing } from '../line-ring.js';
import type { TransportContext, TransportEvents } from '../transport.js';

const MAX_STDERR_LINE = 64 * 1024;
const MAX_NOISE_LINE = 8 * 1024;
/** So many times as long as a message may be: what follows a line that does not end by then would never be read. */
const ENDLESS = 4;
const NOTHING = Buffer.alloc(0);
/** `method` among the first members: a question or a notification, whose id, if any, is none of ours. */
const ASKS = /^\s*\{(?:\s*"(?:jsonrpc|id)"\s*:\s*(?:"[^"]*"|\d+)\s*,)*\s*"method"\s*:/;

/** A server's stdout: one message a line; noise among them goes to the words for people. */
export function messageReader(
  server: string,
  { words, bounds, maxMessageBytes: limit }: TransportContext,
  events: TransportEvents,
): LineReader {
  /** The request whose answer is the overlong line that goes on now: it was told at once. */
  let told: RpcId | undefined;
  let isBroken = false;
  const tooLarge = (what: string, details: object) => {
    bounds.note('message', `It sent a message of ${what}.`);
    return new AppError('RESULT_TOO_LARGE', `Server "${server}" sent a message of ${what}.`, { details });
  };
  const overLimit = () => tooLarge(`more than ${limit} bytes`, { limit });
  return new LineReader({
    maxBytes: limit,
    onLine(line) {
      if (holdsTooMany(line)) {
        const many = `more than ${MAX_CONTAINERS} objects and arrays`;
        const error = tooLarge(many, { bytes: line.length, limit: MAX_CONTAINERS });
        if (!asks(line))
          events.failed(oversizeId(line.subarray(0, 1024), line.subarray(-1024)) ?? undefined, error);
        return;
      }
      const value = parsed(line);
      if (isObject(value)) events.message(value, line.length);
      else if (Array.isArray(value)) for (const one of value.filter(isObject)) events.message(one);
      else {
        // Not the whole line, which its part would keep in memory.
        words.push(line.subarray(0, MAX_NOISE_LINE).toString('utf8'));
        events.noise(line.length);
      }
    },
    onGrowing(head, bytes) {
      if (isBroken) return;
      if (bytes > ENDLESS * limit) {
        isBroken = true;
        const error = tooLarge(`more than ${ENDLESS * limit} bytes without an end`, { bytes, limit });
        if (told === undefined && !asks(head)) events.failed(undefined, error);
        return events.broken(new AppError('CONNECTION_LOST', error.message, { details: error.details }));
      }
      const id = told === undefined && !asks(head) ? oversizeId(head, NOTHING) : null;
      if (id === null) return;
      told = id;
      events.failed(id, overLimit());
    },
    onOversize(head, _bytes, tail) {
      if (isBroken) return;
      if (told === undefined) {
        const error = overLimit();
        if (!asks(head)) events.failed(oversizeId(head, tail) ?? undefined, error);
      }
      told = undefined;
    },
  });
}

function asks(head: Buffer): boolean {
  return ASKS.test(head.subarray(0, 1024).toString('utf8'));
}

/** A server's stderr: lines for people, of which a very long one is cut. */
export function wordReader(words: LineRing): LineReader {
  return new LineReader({
    maxBytes: MAX_STDERR_LINE,
    onLine: (line) => words.push(line.toString('utf8')),
    onOversize: (head) => words.push(head.toString('utf8')),
  });
}

/** The end of a server's program, with its last words; `how` is the rest of the sentence after its name. */
export function programEnded(server: string, how: string, words: LineRing, details: object): AppError {
  const lines = [...words.lines];
  const said = lines.length === 0 ? '' : ` Its last words: ${lines.join(' | ')}`;
  return new AppError('CONNECTION_LOST', `Server "${server}" ${how}.${said}`, {
    details: { ...details, stderr: lines },
  });
}

function parsed(line: Buffer): unknown {
  try {
    return JSON.parse(line.toString('utf8'));
  } catch {
    // Noise that a library printed; the protocol goes on with the next line.
    return undefined;
  }
}
