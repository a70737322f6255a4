import type { Price } from './brain.js';

/** One brain, as settings and missions describe it. */
export interface BrainConfig {
  kind: 'anthropic' | 'openai' | 'text-react' | 'scripted';
  /** `kind:model`, by which it is chosen. */
  name: string;
  /** Of a scripted brain: its file. */
  model: string;
  apiKey?: string;
  baseUrl?: string;
  /** Tokens that its model takes in all. */
  window?: number;
  /** Tokens of one answer. */
  maxTokens?: number;
  /** Tokens that it may think with before it answers, where the API has that. */
  thinkingTokens?: number;
  price?: Price;
  /** Whether its model sees images; absent: as its provider's usual models. */
  images?: boolean;
}
