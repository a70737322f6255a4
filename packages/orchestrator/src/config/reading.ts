import type { JsonObject } from '@mcpbridge/shared/json-rpc.js';
import type { PlaceholderSource } from './placeholders.js';

export interface EntryContext extends PlaceholderSource {
  /** Working directory of stdio servers whose entry names none. */
  folder: string;
}

/** One entry while it is read. */
export interface Reading {
  raw: JsonObject;
  context: EntryContext;
  /** Sentences; every step adds what it finds, so that all faults are named at once. */
  faults: string[];
  /** The value as text with its placeholders replaced. */
  fill(field: string, value: unknown): string;
}
