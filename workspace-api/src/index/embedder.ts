import type { Packed } from './vectors.js';

/** Turns texts into vectors that are near each other where the texts mean alike. */
export interface Embedder {
  /** Vectors of different names are not compared. */
  readonly name: string;
  /** Texts of one request. */
  readonly batch: number;
  /** One for each text, in their order. */
  embed(texts: readonly string[]): Promise<Packed[]>;
}

/** As the settings say it. */
export type EmbedderChoice =
  | { kind: 'none' }
  | { kind: 'local' }
  /** Any address that speaks OpenAI's `POST /embeddings`. */
  | { kind: 'http'; url: string; model: string; key?: string };
