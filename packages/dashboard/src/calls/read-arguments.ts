import { messageOf } from '../net/request';
import { faultsOf } from '../tools/check-value';
import type { ListedTool } from './use-tool-of';

/** Written arguments, and what JSON or the schema of the tool has against them. */
export function readArguments(
  text: string,
  tool: ListedTool | undefined,
): { value: unknown; faults: string[] } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { value: undefined, faults: [`This is no JSON: ${messageOf(error)}.`] };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { value, faults: ['Arguments are an object: {"name": value}.'] };
  return {
    value,
    faults: tool
      ? faultsOf(tool.inputSchema, value).map(({ path, message }) => `${path || 'The whole'}: ${message}`)
      : [],
  };
}
