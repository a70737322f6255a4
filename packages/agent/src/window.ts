import type { BrainRequest, Message } from './brains/brain.js';
import { PICTURE_TOKENS, withNewestPictures, withoutPictures } from './pictures.js';

/** Of an old result this much stays. */
const KEPT_CHARACTERS = 400;
/** The newest exchanges stay as they are. */
const WHOLE_EXCHANGES = 2;

/** Text of many kinds has three to four characters a token; the lower number errs to the safe side. */
export function estimateTokens(value: unknown): number {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return Math.ceil((text?.length ?? 0) / 3.2);
}

/**
 * The messages so that they fit with system prompt and tools: old results are shortened first, then whole exchanges go,
 * calls and results together, since no API takes one without the other. The questions of the person stay.
 */
export function fitted(request: BrainRequest, window: number): Message[] {
  const fixed = estimateTokens(request.system) + estimateTokens(request.tools);
  // A part is left for the answer.
  const room = Math.max(500, Math.floor(window * 0.75) - fixed);
  let messages = withNewestPictures(request.messages);
  if (weigh(messages) <= room) return messages;
  messages = shortened(messages, room);
  return weigh(messages) <= room ? messages : withoutOldest(messages, room);
}

function weigh(messages: readonly Message[]): number {
  return messages.reduce(
    (sum, message) => sum + estimateTokens(bare(message)) + PICTURE_TOKENS * countPictures(message),
    0,
  );
}

function countPictures(message: Message): number {
  if (message.role !== 'results') return 0;
  return message.answers.reduce((sum, { pictures = [] }) => sum + pictures.length, 0);
}

/** What a brain keeps for itself says the same once more, and images are reckoned by their number. */
function bare(message: Message): unknown {
  if (message.role === 'results') return message.answers.map(({ pictures, ...answer }) => answer);
  if (message.role !== 'assistant') return message;
  const { raw, ...rest } = message;
  return rest;
}

/** From the oldest on, as many results as it takes; the newest exchanges last and only as far as needed. */
function shortened(messages: readonly Message[], room: number): Message[] {
  const result = [...messages];
  const places = result.flatMap((message, index) => (message.role === 'results' ? [index] : []));
  const old = places.slice(0, -WHOLE_EXCHANGES);
  const isEnough = () => weigh(result) <= room;
  for (const at of old) {
    if (isEnough()) return result;
    result[at] = cut(result[at], KEPT_CHARACTERS);
  }
  const share = Math.max(KEPT_CHARACTERS, Math.floor((room * 3.2) / (2 * WHOLE_EXCHANGES)));
  for (const at of places.slice(-WHOLE_EXCHANGES)) if (!isEnough()) result[at] = cut(result[at], share);
  return result;
}

function cut(message: Message | undefined, characters: number): Message {
  if (message?.role !== 'results') throw new Error('Only results are shortened.');
  const each = Math.max(KEPT_CHARACTERS, Math.floor(characters / message.answers.length));
  return {
    role: 'results',
    answers: message.answers.map((answer) => {
      const text = headAndTail(answer.text, each);
      return withoutPictures({ ...answer, text });
    }),
  };
}

function headAndTail(text: string, characters: number): string {
  if (text.length <= characters) return text;
  const half = Math.floor(characters / 2);
  const left = text.length - 2 * half;
  return `${text.slice(0, half)}\n[… ${left} characters were left out here to save space …]\n${text.slice(-half)}`;
}

function withoutOldest(messages: readonly Message[], room: number): Message[] {
  const result = [...messages];
  let dropped = 0;
  while (weigh(result) > room) {
    const at = result.findIndex(({ role }, index) => role === 'assistant' && index < result.length - 2);
    if (at < 0) break;
    dropped += 1;
    result.splice(at, result[at + 1]?.role === 'results' ? 2 : 1);
  }
  if (dropped === 0) return result;
  const text = `[${dropped} earlier exchanges were left out here to save space.]`;
  const first = result.findIndex(({ role }) => role === 'user');
  return [...result.slice(0, first + 1), { role: 'user', text }, ...result.slice(first + 1)];
}
