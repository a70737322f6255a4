import type { JsonObject } from '@mcpbridge/shared/json-rpc.js';
import { compileSchema } from '@mcpbridge/shared/validate.js';
import type { Journal } from './journal.js';

const REPAIRS = 2;
const MARK = 'Your answer must be one JSON value that fits this schema';

/** What is said to the model about the form of its answer. */
export function formOfAnswer(output: JsonObject): string {
  return `${MARK}, and nothing beside it: ${JSON.stringify(output)}`;
}

/** The answer as data where a schema asks for it, and what is wrong with it. */
export function answerFaults(
  text: string,
  output: JsonObject | undefined,
): { faults: string[]; data?: unknown } {
  if (!output) return { faults: [] };
  const json = jsonIn(text);
  if (json === undefined) return { faults: ['it is no JSON'] };
  return { faults: compileSchema(output)(json), data: json };
}

/** What is said about the faults; undefined when it was said often enough. */
export function askAgain(faults: string[], journal: Journal): string | undefined {
  const said = journal.entries.filter((entry) => entry.kind === 'note' && entry.text.startsWith(MARK));
  if (said.length >= REPAIRS) return undefined;
  return `${MARK}. What is wrong: ${faults.join('; ')}. Write the whole answer once more.`;
}

/** The text as JSON, or what stands in it between fences or braces. */
export function jsonIn(text: string): unknown {
  const fenced = /```(?:json)?\s*([\s\S]*?)```/.exec(text)?.[1];
  const first = text.search(/[[{]/);
  const last = Math.max(text.lastIndexOf('}'), text.lastIndexOf(']'));
  const parts = [text, fenced, first >= 0 ? text.slice(first, last + 1) : undefined];
  for (const part of parts) {
    if (part === undefined) continue;
    try {
      return JSON.parse(part);
    } catch {
      // the next part may be it
    }
  }
  return undefined;
}
