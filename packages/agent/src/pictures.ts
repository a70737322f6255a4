import { isObject } from '@mcpbridge/shared/json-rpc.js';
import type { ToolResult } from '@mcpbridge/shared/tools.js';
import type { Message, Picture, ToolAnswer } from './brains/brain.js';

/** What all providers that see images take. */
const TYPES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);
/** Bytes of base64 of one image; providers refuse more than five million. */
const LARGEST = 4_000_000;
const MOST_OF_A_RESULT = 8;
/** In one request; older ones are told as notes. */
const MOST_AT_ONCE = 12;
const BYTES_AT_ONCE = 12_000_000;
/** What a model reckons for a large image; small ones cost less. */
export const PICTURE_TOKENS = 1600;

/** The images of a result that a model can be shown, and a note for each that it cannot. */
export function picturesOf({ content = [] }: ToolResult): { pictures: Picture[]; notes: string[] } {
  const pictures: Picture[] = [];
  const notes: string[] = [];
  for (const block of content) {
    const picture = pictureIn(block);
    if (!picture) continue;
    const why = !TYPES.has(picture.mimeType)
      ? 'models take no images of this type'
      : picture.data.length > LARGEST
        ? 'it is too large for a model'
        : pictures.length === MOST_OF_A_RESULT
          ? `of one result ${MOST_OF_A_RESULT} are shown`
          : undefined;
    if (why === undefined) pictures.push(picture);
    else notes.push(`[An image (${nameOf(picture)}) was left out: ${why}.]`);
  }
  return { pictures, notes };
}

function pictureIn(block: unknown): Picture | undefined {
  if (!isObject(block)) return undefined;
  const { type, data, mimeType } = block;
  if (type === 'image' && typeof data === 'string') return { mimeType: String(mimeType), data };
  const { resource } = block;
  if (isObject(resource) && typeof resource.blob === 'string' && /^image\//.test(String(resource.mimeType)))
    return { mimeType: String(resource.mimeType), data: resource.blob };
  return undefined;
}

/** `image/png, 12 kB`: what of a picture is told where it cannot be shown. */
export function nameOf({ mimeType, data }: Picture): string {
  return `${mimeType}, ${Math.ceil((data.length * 3) / 4000)} kB`;
}

/** An answer's words for a model that does not see its pictures. */
export function inWords({ text, pictures = [] }: ToolAnswer): string {
  return [text, ...pictures.map((picture) => `[An image (${nameOf(picture)}) that you cannot see.]`)].join(
    '\n',
  );
}

/** The newest pictures, as many as one request takes; of the others their names. */
export function withNewestPictures(messages: readonly Message[]): Message[] {
  let left = MOST_AT_ONCE;
  let bytes = BYTES_AT_ONCE;
  return messages
    .map((message) => message)
    .reverse()
    .map((message): Message => {
      if (message.role !== 'results') return message;
      const answers = message.answers.map((answer) => {
        const { pictures = [] } = answer;
        left -= pictures.length;
        bytes -= pictures.reduce((sum, { data }) => sum + data.length, 0);
        return pictures.length === 0 || (left >= 0 && bytes >= 0) ? answer : withoutPictures(answer);
      });
      return { ...message, answers };
    })
    .reverse();
}

/** With their names in their place. */
export function withoutPictures({ pictures = [], ...answer }: ToolAnswer): ToolAnswer {
  const notes = pictures.map((picture) => `[An image (${nameOf(picture)}) that was shown before.]`);
  return { ...answer, text: [answer.text, ...notes].join('\n') };
}
