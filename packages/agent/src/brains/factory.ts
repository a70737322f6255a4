import { AppError } from '@mcpbridge/shared/errors.js';
import { type AgentSettings, splitBrainName } from '../settings.js';
import { anthropicBrain } from './anthropic.js';
import type { Brain } from './brain.js';
import type { BrainConfig } from './config.js';
import { openAiBrain } from './openai.js';
import { scriptedBrain } from './scripted.js';
import { textReactBrain } from './text-react.js';

/** What a mission may say about its brain, beside the name. */
export type BrainOptions = Pick<BrainConfig, 'window' | 'maxTokens' | 'thinkingTokens' | 'price' | 'images'>;

export interface Backend {
  name: string;
  isDefault: boolean;
}

const MAKERS: Record<BrainConfig['kind'], (config: BrainConfig) => Brain> = {
  anthropic: anthropicBrain,
  openai: openAiBrain,
  'text-react': textReactBrain,
  scripted: scriptedBrain,
};

/** Makes brains from what the settings have keys or addresses for. */
export class BrainFactory {
  constructor(private readonly settings: AgentSettings) {}

  /** The default first. */
  backends(): Backend[] {
    const names = [...this.settings.brains, ...Object.keys(this.settings.providers)];
    const whole = [
      ...new Set(names.map((name) => this.wholeName(name)).filter((name) => name !== undefined)),
    ];
    return whole.map((name, index) => ({ name, isDefault: index === 0 && this.settings.brains.length > 0 }));
  }

  /** The wanted one, then those that stand in for it; whole names. @throws CONFIG_INVALID */
  namesOf(wanted?: string, fallbacks?: string[]): string[] {
    const { brains } = this.settings;
    const [usual, ...others] = brains;
    const first = wanted ?? usual;
    if (first === undefined) {
      throw new AppError(
        'CONFIG_INVALID',
        'No brain is set up: set ANTHROPIC_API_KEY, or OPENAI_API_KEY or OPENAI_BASE_URL, and start again.',
      );
    }
    const names = [first, ...(fallbacks ?? (wanted === undefined || wanted === usual ? others : []))];
    return [...new Set(names.map((name) => this.wholeName(name) ?? this.refuse(name)))];
  }

  make(name: string, options: BrainOptions = {}): Brain {
    const { kind, model = '' } =
      splitBrainName(this.wholeName(name) ?? this.refuse(name)) ?? this.refuse(name);
    const { model: _usual, ...provider } = this.settings.providers[kind] ?? { model };
    const { prices, images } = this.settings;
    const price = prices[`${kind}:${model}`] ?? prices[model];
    const usual = { ...provider, ...(price ? { price } : {}), ...(images === undefined ? {} : { images }) };
    return MAKERS[kind]({ kind, name: `${kind}:${model}`, model, ...usual, ...options });
  }

  /** With the model; undefined: there is no key and no address for it. */
  private wholeName(name: string): string | undefined {
    const split = splitBrainName(name);
    const provider = split && this.settings.providers[split.kind];
    // A file for a scripted brain is the operator's to name.
    if (
      !provider ||
      (split.kind === 'scripted' && split.model !== undefined && split.model !== provider.model)
    )
      return undefined;
    // The kind alone means the model that the operator chose for it.
    const chosen = this.settings.brains.find((brain) => brain.startsWith(`${split.kind}:`));
    return split.model === undefined && chosen ? chosen : `${split.kind}:${split.model ?? provider.model}`;
  }

  private refuse(name: string): never {
    const known = this.backends().map((backend) => backend.name);
    const others = known.length > 0 ? ` There is ${known.join(', ')}.` : '';
    throw new AppError('CONFIG_INVALID', `The brain "${name}" is not set up here.${others}`);
  }
}
