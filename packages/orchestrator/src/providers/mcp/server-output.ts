import { AppError } from '@mcpbridge/shared/errors.js';
import { LineReader } from '@mcpbridge/shared/framing.js';
import { isObject } from '@mcpbridge/shared/json-rpc.js';
import type { LineRing } from './line-ring.js';
import type { TransportContext, TransportEvents } from './transport.js';

const MAX_STDERR_LINE = 64 * 1024;

/** A server's stdout: one message a line; noise among them goes to the words for people. */
export function messageReader(
  server: string,
  { words, log, maxMessageBytes: limit }: TransportContext,
  events: TransportEvents,
): LineReader {
  return new LineReader({
    maxBytes: limit,
    onLine(line) {
      const text = line.toString('utf8');
      const value = parsed(text);
      if (isObject(value)) events.message(value);
      else if (Array.isArray(value)) for (const one of value.filter(isObject)) events.message(one);
      else words.push(text);
    },
    onOversize(head, bytes) {
      const sentence = `Server "${server}" sent a message of ${bytes} bytes; at most ${limit} are taken.`;
      log.warn(sentence);
      const id = /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d+)/.exec(
        head.toString('utf8'),
      )?.[1];
      events.failed(
        id === undefined ? undefined : Number(id),
        new AppError('RESULT_TOO_LARGE', sentence, { details: { bytes, limit } }),
      );
    },
  });
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

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    // Noise that a library printed; the protocol goes on with the next line.
    return undefined;
  }
}
