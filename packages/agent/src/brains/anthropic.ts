import type Anthropic from '@anthropic-ai/sdk';
import type { ModelCall, Usage } from '@mcpbridge/shared/conversation.js';
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

type Params = Anthropic.MessageCreateParamsStreaming;
type Block = Anthropic.ContentBlockParam;

const CACHED = { type: 'ephemeral' as const };

/** Anthropic's Messages API, or a server that speaks it. */
export function anthropicBrain({ name, model, apiKey, baseUrl, ...config }: BrainConfig): Brain {
  let client: Promise<Anthropic> | undefined;
  const connect = async () => {
    const { default: Sdk } = await import('@anthropic-ai/sdk');
    // Retries have one owner, which is not the SDK.
    const options = { apiKey: apiKey ?? 'none', maxRetries: 0, timeout: 60 * 60_000 };
    return new Sdk(baseUrl ? { ...options, baseURL: baseUrl } : options);
  };
  return {
    name,
    window: config.window ?? 200_000,
    ...(config.price ? { price: config.price } : {}),
    async *ask(request, signal) {
      try {
        client ??= connect();
        const sdk = await client;
        const params = paramsOf(request, model, name, config);
        yield* read(await sdk.messages.create(params, { signal }), name, config.price);
      } catch (thrown) {
        throw signal.aborted ? signal.reason : classify(name, thrown, apiKey);
      }
    },
  };
}

function paramsOf(request: BrainRequest, model: string, name: string, config: Partial<BrainConfig>): Params {
  const { system, tools, calling } = request;
  const { maxTokens = 8192, thinkingTokens } = config;
  return {
    model,
    stream: true,
    max_tokens: maxTokens + (thinkingTokens ?? 0),
    // Two places to cache: what stays for the whole run, and the conversation so far.
    system: [{ type: 'text', text: system, cache_control: CACHED }],
    messages: withCacheMark(
      request.messages.map((message) => messageOf(message, name, config.images ?? true)),
    ),
    ...(tools.length === 0
      ? {}
      : {
          tools: tools.map(({ name: tool, description, inputSchema }) => ({
            name: tool,
            description,
            input_schema: plainSchema(inputSchema),
          })),
          tool_choice:
            calling === 'none'
              ? { type: 'none' as const }
              : { type: 'auto' as const, disable_parallel_tool_use: calling === 'one' },
        }),
    ...(thinkingTokens ? { thinking: { type: 'enabled' as const, budget_tokens: thinkingTokens } } : {}),
  };
}

function messageOf(
  message: Message,
  name: string,
  seesImages: boolean,
): { role: 'user' | 'assistant'; content: Block[] } {
  if (message.role === 'user') return { role: 'user', content: [{ type: 'text', text: message.text }] };
  if (message.role === 'results') {
    const content = message.answers.map((answer) => ({
      type: 'tool_result' as const,
      tool_use_id: answer.id,
      content: seesImages ? resultBlocks(answer) : inWords(answer),
      ...(answer.isError ? { is_error: true } : {}),
    }));
    return { role: 'user', content };
  }
  if (message.brain === name && Array.isArray(message.raw))
    return { role: 'assistant', content: message.raw as Block[] };
  const content: Block[] = message.text.trim() === '' ? [] : [{ type: 'text', text: message.text }];
  for (const call of message.calls) {
    const input = 'arguments' in call ? call.arguments : {};
    content.push({ type: 'tool_use', id: call.id, name: call.tool, input });
  }
  return { role: 'assistant', content };
}

function resultBlocks({
  text,
  pictures = [],
}: ToolAnswer): string | (Anthropic.TextBlockParam | Anthropic.ImageBlockParam)[] {
  if (pictures.length === 0) return text;
  const images = pictures.map(({ mimeType, data }) => ({
    type: 'image' as const,
    source: {
      type: 'base64' as const,
      media_type: mimeType as Anthropic.Base64ImageSource['media_type'],
      data,
    },
  }));
  return [{ type: 'text', text }, ...images];
}

function withCacheMark(messages: { role: 'user' | 'assistant'; content: Block[] }[]): Params['messages'] {
  const last = messages.at(-1);
  const block = last?.content.at(-1);
  if (last && block && (block.type === 'text' || block.type === 'tool_result'))
    last.content = [...last.content.slice(0, -1), { ...block, cache_control: CACHED }];
  return messages;
}

interface Open {
  type: string;
  /** As it came, to be sent back. */
  block: Record<string, unknown>;
  json: string;
}

/** Put together here, since the SDK's own accumulator takes a stream that was cut for a whole one. */
async function* read(
  stream: AsyncIterable<Anthropic.RawMessageStreamEvent>,
  name: string,
  price: Brain['price'],
): AsyncGenerator<BrainEvent> {
  const blocks: Open[] = [];
  let usage: Usage = { inputTokens: 0, outputTokens: 0 };
  let stop: string | null = null;
  let isWhole = false;
  for await (const event of stream) {
    if (event.type === 'message_start') usage = usageOf(event.message.usage);
    else if (event.type === 'content_block_start')
      blocks[event.index] = { type: event.content_block.type, block: { ...event.content_block }, json: '' };
    else if (event.type === 'content_block_delta') {
      const open = blocks[event.index];
      const piece = open && take(open, event.delta);
      if (piece) yield piece;
    } else if (event.type === 'message_delta') {
      stop = event.delta.stop_reason;
      usage = { ...usage, outputTokens: event.usage.output_tokens };
    } else if (event.type === 'message_stop') isWhole = true;
  }
  if (!isWhole) throw cutOff(name);
  const calls = blocks.filter(({ type }) => type === 'tool_use').map(callOf);
  const all = (type: string, member: string) =>
    blocks
      .filter((open) => open.type === type)
      .map(({ block }) => String(block[member] ?? ''))
      .join('');
  const isClean = calls.every((call) => 'arguments' in call);
  const raw = blocks
    .map(({ block }) => block)
    .filter((block) => block.type !== 'text' || String(block.text).trim() !== '');
  yield {
    type: 'reply',
    reply: {
      text: all('text', 'text'),
      thinking: all('thinking', 'thinking'),
      calls,
      usage: costOf(usage, price),
      isCut: stop === 'max_tokens',
      ...(isClean && raw.length > 0 ? { raw } : {}),
    },
  };
}

function take(open: Open, delta: Anthropic.RawContentBlockDelta): BrainEvent | undefined {
  const { block } = open;
  if (delta.type === 'text_delta') {
    block.text = `${block.text ?? ''}${delta.text}`;
    return { type: 'text', text: delta.text };
  }
  if (delta.type === 'thinking_delta') {
    block.thinking = `${block.thinking ?? ''}${delta.thinking}`;
    return { type: 'thinking', text: delta.thinking };
  }
  if (delta.type === 'signature_delta') block.signature = delta.signature;
  if (delta.type === 'input_json_delta') open.json += delta.partial_json;
  return undefined;
}

function callOf(open: Open): ModelCall {
  const call = readArguments(String(open.block.id), String(open.block.name), open.json);
  open.block.input = 'arguments' in call ? call.arguments : {};
  return call;
}

function usageOf(usage: Anthropic.Usage): Usage {
  const cached = usage.cache_read_input_tokens ?? 0;
  const written = usage.cache_creation_input_tokens ?? 0;
  const inputTokens = usage.input_tokens + cached + written;
  return {
    inputTokens,
    outputTokens: usage.output_tokens,
    ...(cached > 0 ? { cachedTokens: cached } : {}),
    ...(written > 0 ? { cacheWrittenTokens: written } : {}),
  };
}
