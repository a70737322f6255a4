import { AppError } from '@mcpbridge/shared/errors.js';
import type { EmbedderChoice } from './index/embedder.js';

/** Also of a workspace within the orchestrator. */
export interface SearchSettings {
  /** Where programs are looked for. */
  path: string;
  embedder: EmbedderChoice;
}

export function searchSettings(env: NodeJS.ProcessEnv): SearchSettings {
  return { path: env.PATH || '', embedder: embedder(env) };
}

function embedder(env: NodeJS.ProcessEnv): EmbedderChoice {
  const chosen = env.SEARCH_EMBEDDINGS || 'local';
  if (chosen === 'local' || chosen === 'none') return { kind: chosen };
  if (!URL.canParse(chosen) || !/^https?:/.test(chosen))
    throw new AppError(
      'CONFIG_INVALID',
      `SEARCH_EMBEDDINGS is "${chosen}"; set it to local, none, or the address of an OpenAI-compatible API such as http://localhost:11434/v1.`,
    );
  const model = env.SEARCH_EMBEDDINGS_MODEL;
  if (!model)
    throw new AppError(
      'CONFIG_INVALID',
      'SEARCH_EMBEDDINGS is an address: set SEARCH_EMBEDDINGS_MODEL to the model to ask there.',
    );
  const key = env.SEARCH_EMBEDDINGS_KEY;
  return { kind: 'http', url: chosen, model, ...(key ? { key } : {}) };
}
