import { isObject } from '@mcpbridge/shared/json-rpc.js';

/** Where a model that sees is asked. */
export interface VisionSettings {
  /** Whose wire format it speaks. */
  api: 'openai' | 'anthropic';
  /** With the version: `https://api.anthropic.com/v1`, `http://localhost:11434/v1`. */
  url: string;
  model: string;
  key: string;
}

export interface Picture {
  mimeType: string;
  base64: string;
}

const MAX_TOKENS = 4096;
const SHOWN = 500;

/** What the model answers; rejects with what its server said. Redirects are not followed: the address is the operator's own. */
export async function askAbout(
  settings: VisionSettings,
  picture: Picture,
  question: string,
  signal: AbortSignal,
): Promise<string> {
  const { path, headers, body } = settings.api === 'anthropic' ? anthropic : openai;
  const response = await fetch(settings.url.replace(/\/+$/, '') + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers(settings.key) },
    body: JSON.stringify({ model: settings.model, max_tokens: MAX_TOKENS, ...body(picture, question) }),
    redirect: 'manual',
    signal,
  });
  const text = await response.text();
  if (!response.ok)
    throw new Error(`The vision model's server answered ${response.status}: ${text.slice(0, SHOWN)}`);
  const answer = answerOf(JSON.parse(text));
  if (answer === '') throw new Error('The vision model answered nothing.');
  return answer;
}

interface Wire {
  path: string;
  headers(key: string): Record<string, string>;
  body(picture: Picture, question: string): object;
}

/** A header with the key, where there is one. */
function keyed(name: string, key: string, value = key): Record<string, string> {
  return key ? { [name]: value } : {};
}

const openai: Wire = {
  path: '/chat/completions',
  headers: (key) => keyed('authorization', key, `Bearer ${key}`),
  body: ({ mimeType, base64 }, question) => ({
    messages: [
      {
        role: 'user',
        content: [
          { type: 'image_url', image_url: { url: `data:${mimeType};base64,${base64}` } },
          { type: 'text', text: question },
        ],
      },
    ],
  }),
};

const anthropic: Wire = {
  path: '/messages',
  headers: (key) => ({ 'anthropic-version': '2023-06-01', ...keyed('x-api-key', key) }),
  body: ({ mimeType, base64 }, question) => ({
    messages: [
      {
        role: 'user',
        content: [
          { type: 'image', source: { type: 'base64', media_type: mimeType, data: base64 } },
          { type: 'text', text: question },
        ],
      },
    ],
  }),
};

/** Of either format. */
function answerOf(answer: unknown): string {
  if (!isObject(answer)) return '';
  if (Array.isArray(answer.content)) return joined(answer.content);
  const [choice] = Array.isArray(answer.choices) ? answer.choices : [];
  const content = isObject(choice) && isObject(choice.message) ? choice.message.content : undefined;
  return Array.isArray(content) ? joined(content) : typeof content === 'string' ? content.trim() : '';
}

function joined(blocks: readonly unknown[]): string {
  const texts = blocks.map((block) => (isObject(block) && typeof block.text === 'string' ? block.text : ''));
  return texts.join('').trim();
}
