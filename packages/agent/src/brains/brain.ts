import type { ModelCall, Usage } from '@mcpbridge/shared/conversation.js';
import type { JsonObject } from '@mcpbridge/shared/json-rpc.js';

export interface OfferedTool {
  name: string;
  description: string;
  inputSchema: JsonObject;
}

/** An image as the APIs of models take it; `data` is base64. */
export interface Picture {
  mimeType: string;
  data: string;
}

export interface ToolAnswer {
  /** The model's own id of the call. */
  id: string;
  tool: string;
  text: string;
  isError: boolean;
  pictures?: readonly Picture[];
}

export type Message =
  | { role: 'user'; text: string }
  | {
      role: 'assistant';
      text: string;
      calls: ModelCall[];
      /** What a brain wants back unchanged, and which one. */
      raw?: unknown;
      brain?: string;
    }
  | { role: 'results'; answers: ToolAnswer[] };

export interface BrainRequest {
  system: string;
  messages: Message[];
  tools: OfferedTool[];
  /** Whether the model may call tools now; `one`: a single one. */
  calling: 'many' | 'one' | 'none';
}

/** One whole answer of a model. */
export interface Reply {
  text: string;
  thinking: string;
  calls: ModelCall[];
  usage: Usage;
  isCut: boolean;
  raw?: unknown;
}

export type BrainEvent = { type: 'thinking' | 'text'; text: string } | { type: 'reply'; reply: Reply };

/** What thinks: one model behind one API. Rejects with a BrainFailure; it never tries again by itself. */
export interface Brain {
  /** `anthropic:claude-…`: the kind, then the model. */
  readonly name: string;
  /** Tokens that its model takes in all. */
  readonly window: number;
  readonly price?: Price;
  /** Ends with one `reply`. */
  ask(request: BrainRequest, signal: AbortSignal): AsyncGenerator<BrainEvent>;
}

/** The arguments as the model wrote them: an object, or what is wrong with them. Nothing at all is no arguments. */
export function readArguments(id: string, tool: string, text: string): ModelCall {
  if (text.trim() === '') return { id, tool, arguments: {} };
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return { id, tool, arguments: value as JsonObject };
  } catch {
    // told to the model below
  }
  return { id, tool, malformed: text };
}

/** Dollars per million tokens, as providers' price lists have them; what comes from or goes into their cache costs like input unless said. */
export interface Price {
  input: number;
  output: number;
  cached?: number;
  cacheWritten?: number;
}

export function costOf(usage: Usage, price: Brain['price']): Usage {
  if (!price) return usage;
  const { inputTokens, outputTokens, cachedTokens = 0, cacheWrittenTokens = 0 } = usage;
  const { input, output, cached = input, cacheWritten = input } = price;
  const plain = inputTokens - cachedTokens - cacheWrittenTokens;
  const millionths =
    plain * input + cachedTokens * cached + cacheWrittenTokens * cacheWritten + outputTokens * output;
  return { ...usage, cost: millionths / 1_000_000 };
}

export function addUsage(a: Usage, b: Usage): Usage {
  const cached = (a.cachedTokens ?? 0) + (b.cachedTokens ?? 0);
  const written = (a.cacheWrittenTokens ?? 0) + (b.cacheWrittenTokens ?? 0);
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    ...(cached > 0 ? { cachedTokens: cached } : {}),
    ...(written > 0 ? { cacheWrittenTokens: written } : {}),
    ...(a.cost === undefined && b.cost === undefined ? {} : { cost: (a.cost ?? 0) + (b.cost ?? 0) }),
  };
}

export const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0 };
