import type { Usage } from '@mcpbridge/shared/conversation.js';
import { timeOrderedId } from '@mcpbridge/shared/ids.js';
import { isObject } from '@mcpbridge/shared/json-rpc.js';
import type OpenAI from 'openai';
import { inWords } from '../pictures.js';
import {
  type Brain,
  type BrainEvent,
  type BrainRequest,
  costOf,
  type Message,
  readArguments,
  type ToolAnswer,
} from './brain.js';
import type { BrainConfig } from './config.js';
import { classify, cutOff } from './failure.js';
import { plainSchema } from './plain-schema.js';

type Params = OpenAI.ChatCompletionCreateParamsStreaming;
type ChatMessage = OpenAI.ChatCompletionMessageParam;

/** Chat completions of OpenAI and of all who speak them: llama.cpp, vLLM, Ollama. */
export function openAiBrain({ name, model, ...config }: BrainConfig): Brain {
  const client = openAiClient(config);
  return {
    name,
    window: config.window ?? 128_000,
    ...(config.price ? { price: config.price } : {}),
    async *ask(request, signal) {
      try {
        const sdk = await client();
        const stream = await sdk.chat.completions.create(paramsOf(request, model, config), { signal });
        yield* read(stream, name, config.price);
      } catch (thrown) {
        throw signal.aborted ? signal.reason : classify(name, thrown, config.apiKey);
      }
    },
  };
}

/** Loaded at its first use, and once. */
export function openAiClient({ apiKey, baseUrl }: Partial<BrainConfig>): () => Promise<OpenAI> {
  let client: Promise<OpenAI> | undefined;
  const connect = async () => {
    const { default: Sdk } = await import('openai');
    // Retries have one owner, which is not the SDK.
    const options = { apiKey: apiKey ?? 'none', maxRetries: 0, timeout: 60 * 60_000 };
    return new Sdk(baseUrl ? { ...options, baseURL: baseUrl } : options);
  };
  return () => (client ??= connect());
}

function paramsOf(request: BrainRequest, model: string, config: Partial<BrainConfig>): Params {
  const { system, tools, calling } = request;
  // OpenAI's newer models refuse the older word, most local servers know only that.
  const limit = config.baseUrl ? 'max_tokens' : 'max_completion_tokens';
  return {
    model,
    stream: true,
    stream_options: { include_usage: true },
    messages: [
      { role: 'system', content: system },
      ...request.messages.flatMap((message) => messagesOf(message, seesImages(config))),
    ],
    ...(config.maxTokens ? { [limit]: config.maxTokens } : {}),
    ...(tools.length === 0
      ? {}
      : {
          tools: tools.map(({ name, description, inputSchema }) => ({
            type: 'function' as const,
            function: { name, description, parameters: plainSchema(inputSchema) },
          })),
          ...(calling === 'none' ? { tool_choice: 'none' as const } : {}),
          ...(calling === 'one' ? { parallel_tool_calls: false } : {}),
        }),
  };
}

/** OpenAI's own models do; of another server's model nobody knows before it is said. */
const seesImages = ({ images, baseUrl }: Partial<BrainConfig>) => images ?? baseUrl === undefined;

function messagesOf(message: Message, seen: boolean): ChatMessage[] {
  if (message.role === 'user') return [{ role: 'user', content: message.text }];
  if (message.role === 'results') {
    const told = message.answers.map((answer): ChatMessage => {
      const text = seen ? answer.text : inWords(answer);
      return { role: 'tool', tool_call_id: answer.id, content: answer.isError ? `Error: ${text}` : text };
    });
    return seen ? [...told, ...picturesAfter(message.answers)] : told;
  }
  const calls = message.calls.map((call) => ({
    id: call.id,
    type: 'function' as const,
    function: {
      name: call.tool,
      arguments: 'arguments' in call ? JSON.stringify(call.arguments) : '{}',
    },
  }));
  return [{ role: 'assistant', content: message.text, ...(calls.length > 0 ? { tool_calls: calls } : {}) }];
}

/** Results hold text alone here, so what they show comes after all of them. */
function picturesAfter(answers: readonly ToolAnswer[]): ChatMessage[] {
  const parts = answers.flatMap(({ tool, pictures = [] }) => [
    ...(pictures.length > 0 ? [{ type: 'text' as const, text: `Images of the result of "${tool}":` }] : []),
    ...pictures.map(({ mimeType, data }) => ({
      type: 'image_url' as const,
      image_url: { url: `data:${mimeType};base64,${data}` },
    })),
  ]);
  return parts.length > 0 ? [{ role: 'user', content: parts }] : [];
}

interface Open {
  id: string;
  name: string;
  json: string;
}

async function* read(
  stream: AsyncIterable<OpenAI.ChatCompletionChunk>,
  name: string,
  price: Brain['price'],
): AsyncGenerator<BrainEvent> {
  const calls = new Map<number, Open>();
  let text = '';
  let thinking = '';
  let finish: string | null = null;
  let usage: Usage = { inputTokens: 0, outputTokens: 0 };
  for await (const chunk of stream) {
    if (chunk.usage) usage = usageOf(chunk.usage);
    const choice = chunk.choices[0];
    if (!choice) continue;
    finish = choice.finish_reason ?? finish;
    const { content, tool_calls: pieces = [] } = choice.delta;
    const thought = thoughtIn(choice.delta);
    if (thought) {
      thinking += thought;
      yield { type: 'thinking', text: thought };
    }
    if (content) {
      text += content;
      yield { type: 'text', text: content };
    }
    for (const piece of pieces) take(calls, piece);
  }
  if (finish === null) throw cutOff(name);
  yield {
    type: 'reply',
    reply: {
      text,
      thinking,
      calls: [...calls.values()].map((call) => readArguments(call.id, call.name, call.json)),
      usage: costOf(usage, price),
      isCut: finish === 'length',
    },
  };
}

/** Some servers send no index, some no id, some the name once more with each piece. */
function take(calls: Map<number, Open>, piece: OpenAI.ChatCompletionChunk.Choice.Delta.ToolCall): void {
  const index = piece.index ?? calls.size;
  const open = calls.get(index) ?? { id: '', name: '', json: '' };
  calls.set(index, open);
  open.id ||= piece.id || timeOrderedId();
  open.name ||= piece.function?.name ?? '';
  open.json += piece.function?.arguments ?? '';
}

/** Not in OpenAI's own API; DeepSeek, llama.cpp and vLLM say it so. */
function thoughtIn(delta: object): string {
  if (!isObject(delta)) return '';
  const { reasoning_content: thought = delta.reasoning } = delta;
  return typeof thought === 'string' ? thought : '';
}

export function usageOf(usage: OpenAI.CompletionUsage): Usage {
  const cached = usage.prompt_tokens_details?.cached_tokens ?? 0;
  return {
    inputTokens: usage.prompt_tokens,
    outputTokens: usage.completion_tokens,
    ...(cached > 0 ? { cachedTokens: cached } : {}),
  };
}
