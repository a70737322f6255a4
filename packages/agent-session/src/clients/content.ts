import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';
import { resultText } from '@mcpbridge/shared/tools.js';

export function objectsOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

export function stringOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** A tool's answer as the CLI tells it: text, or blocks of content. */
export function answerText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return resultText({ content: value });
  return isObject(value) ? resultText(value) : '';
}

/** The name that the session gave its tool; the CLI's own tools keep theirs. */
export function bareName(name: unknown, prefix: string): string {
  const whole = stringOf(name);
  return whole.startsWith(prefix) ? whole.slice(prefix.length) : whole;
}
