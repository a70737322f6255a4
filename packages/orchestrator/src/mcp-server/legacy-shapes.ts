import { isObject } from '@mcpbridge/shared/json-rpc.js';

/**
 * What the modern era allows and a legacy client refuses, its whole list with it: an output schema whose root is no
 * object, and structured content that is none. Both get a member `result`, as the SDKs' own servers give them.
 */
export function inLegacyShape(method: string, result: unknown): unknown {
  if (!isObject(result)) return result;
  if (method === 'tools/list' && Array.isArray(result.tools)) {
    return result.tools.some(hasOddSchema) ? { ...result, tools: result.tools.map(wrapSchema) } : result;
  }
  const { structuredContent } = result;
  if (method !== 'tools/call' || structuredContent === undefined || isObject(structuredContent))
    return result;
  return { ...result, structuredContent: { result: structuredContent } };
}

function hasOddSchema(tool: unknown): boolean {
  return isObject(tool) && isObject(tool.outputSchema) && tool.outputSchema.type !== 'object';
}

function wrapSchema(tool: unknown): unknown {
  if (!isObject(tool) || !hasOddSchema(tool)) return tool;
  const outputSchema = { type: 'object', properties: { result: tool.outputSchema }, required: ['result'] };
  return { ...tool, outputSchema };
}
