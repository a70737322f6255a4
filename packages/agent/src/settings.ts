import { dirname, join, resolve } from 'node:path';
import { AppError } from '@mcpbridge/shared/errors.js';
import type { Price } from './brains/brain.js';
import type { BrainConfig } from './brains/config.js';

/** What the environment says about agents. This file is the only one here that reads it. */
export interface AgentSettings {
  /** The default first, then those that stand in for it, in order. */
  brains: string[];
  /** Of whom there are keys or addresses. */
  providers: Partial<Record<BrainConfig['kind'], ProviderSettings>>;
  missionsFolder: string;
  /** Of brains and models, by their names. */
  prices: Record<string, Price>;
  /** Whether the models see images; undefined: as is usual for their providers. */
  images?: boolean;
}

export interface ProviderSettings {
  apiKey?: string;
  baseUrl?: string;
  model: string;
  window?: number;
}

const KINDS = ['anthropic', 'openai', 'text-react', 'scripted'] as const;

export function readAgentSettings(env: NodeJS.ProcessEnv, configFile: string): AgentSettings {
  const providers: AgentSettings['providers'] = {};
  const window = env.AGENT_CONTEXT_TOKENS ? { window: tokens(env.AGENT_CONTEXT_TOKENS) } : {};
  if (env.ANTHROPIC_API_KEY || env.ANTHROPIC_BASE_URL) {
    const model = env.ANTHROPIC_MODEL || 'claude-sonnet-4-5';
    providers.anthropic = { ...access(env.ANTHROPIC_API_KEY, env.ANTHROPIC_BASE_URL), model, ...window };
  }
  if (env.OPENAI_API_KEY || env.OPENAI_BASE_URL) {
    // A server of one's own mostly has one model and takes any name for it.
    const model = env.OPENAI_MODEL || (env.OPENAI_BASE_URL ? 'default' : 'gpt-5-mini');
    const openai = { ...access(env.OPENAI_API_KEY, env.OPENAI_BASE_URL), model, ...window };
    providers.openai = openai;
    providers['text-react'] = openai;
  }
  const brains = (env.AGENT_BRAIN ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean);
  for (const name of brains) requireKind(name);
  const script = brains.find((name) => name.startsWith('scripted:'));
  if (script) providers.scripted = { model: script.slice('scripted:'.length) };
  const usual = (['anthropic', 'openai'] as const).filter((kind) => providers[kind]);
  return {
    brains: brains.length > 0 ? brains : usual.slice(0, 1),
    providers,
    prices: readPrices(env.AGENT_PRICES),
    ...(env.AGENT_IMAGES ? { images: isYes(env.AGENT_IMAGES) } : {}),
    missionsFolder: resolve(env.AGENT_MISSIONS || join(dirname(configFile), 'missions')),
  };
}

/** `kind` or `kind:model`. */
export function splitBrainName(name: string): { kind: BrainConfig['kind']; model?: string } | undefined {
  const colon = name.indexOf(':');
  const word = colon < 0 ? name : name.slice(0, colon);
  const kind = KINDS.find((known) => known === word);
  if (!kind) return undefined;
  return colon < 0 ? { kind } : { kind, model: name.slice(colon + 1) };
}

function requireKind(name: string): void {
  if (splitBrainName(name)) return;
  const sentence = `AGENT_BRAIN names "${name}"; write one or more of ${KINDS.join(', ')}, each with ":model" after it if you like, separated by commas.`;
  throw new AppError('CONFIG_INVALID', sentence);
}

function access(apiKey: string | undefined, baseUrl: string | undefined): Partial<ProviderSettings> {
  return { ...(apiKey ? { apiKey } : {}), ...(baseUrl ? { baseUrl } : {}) };
}

function tokens(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1000) return value;
  throw new AppError(
    'CONFIG_INVALID',
    `AGENT_CONTEXT_TOKENS is "${text}"; set it to the tokens that the model takes in all, 1000 or more.`,
  );
}

/** `MODEL=input/output`, or `MODEL=input/output/cached/cacheWritten`, several with commas. */
function readPrices(text = ''): Record<string, Price> {
  const prices: Record<string, Price> = {};
  for (const part of text
    .split(',')
    .map((one) => one.trim())
    .filter(Boolean)) {
    const [, name = '', numbers = ''] = /^(\S+?)\s*=\s*([\d./]+)$/.exec(part) ?? [];
    const [input, output, cached, cacheWritten, ...more] = numbers.split('/').map(asPrice);
    if (input === undefined || output === undefined || more.length > 0) {
      const sentence = `AGENT_PRICES has "${part}"; write MODEL=INPUT/OUTPUT, in dollars per million tokens, for example claude-sonnet-4-5=3/15, with /CACHED and /CACHE_WRITTEN after it if you like.`;
      throw new AppError('CONFIG_INVALID', sentence);
    }
    prices[name] = {
      input,
      output,
      ...(cached === undefined ? {} : { cached }),
      ...(cacheWritten === undefined ? {} : { cacheWritten }),
    };
  }
  return prices;
}

const asPrice = (text: string) => (/^\d+(\.\d+)?$/.test(text) ? Number(text) : undefined);

function isYes(text: string): boolean {
  if (/^(1|true|yes|on)$/i.test(text)) return true;
  if (/^(0|false|no|off)$/i.test(text)) return false;
  throw new AppError('CONFIG_INVALID', `AGENT_IMAGES is "${text}"; set it to true or false.`);
}
