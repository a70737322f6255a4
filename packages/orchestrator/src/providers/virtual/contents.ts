import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';
import type { FunctionTool } from '../function-provider.js';
import type { ProviderCall } from '../provider.js';

/** `prompts/get` and `resources/read` of MCP, for the session of the call. */
export type Read = (method: string, params: JsonObject, call: ProviderCall) => Promise<unknown>;

/** Prompts and resources as tools, for the many clients that know tools alone. */
export function contents(read: Read): FunctionTool[] {
  return [
    {
      definition: {
        name: 'get_prompt',
        title: 'Get a prompt',
        description: 'Gets a prompt of a server, filled in with its arguments.',
        inputSchema: {
          type: 'object',
          properties: {
            name: { type: 'string', description: 'As it is listed: server__prompt' },
            arguments: { type: 'object', additionalProperties: { type: 'string' } },
          },
          required: ['name'],
        },
        annotations: { readOnlyHint: true },
      },
      async run(call) {
        const { name, arguments: args } = call.args;
        const result = await read('prompts/get', { name, ...(args ? { arguments: args } : {}) }, call);
        const messages = isObject(result) && Array.isArray(result.messages) ? result.messages : [];
        return { content: messages.flatMap((message) => (isObject(message) ? [message.content] : [])) };
      },
    },
    {
      definition: {
        name: 'get_resource',
        title: 'Get a resource',
        description: 'Reads a resource of a server by its address.',
        inputSchema: { type: 'object', properties: { uri: { type: 'string' } }, required: ['uri'] },
        annotations: { readOnlyHint: true },
      },
      async run(call) {
        const result = await read('resources/read', { uri: call.args.uri }, call);
        const all = isObject(result) && Array.isArray(result.contents) ? result.contents : [];
        return { content: all.map((resource) => ({ type: 'resource', resource })) };
      },
    },
  ];
}
