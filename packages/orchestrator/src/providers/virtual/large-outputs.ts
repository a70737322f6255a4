import { textResult } from '@mcpbridge/shared/tools.js';
import type { Outputs } from '../../store/outputs.js';
import type { FunctionTool } from '../function-provider.js';

const DEFAULT_BYTES = 20_000;
const MAX_BYTES = 200_000;
const MAX_LINES = 200;

/** For results that were cut to their session's limit: the rest, piece by piece or by words. */
export function largeOutputs(outputs: Outputs): FunctionTool[] {
  const id = { type: 'string', description: 'As the note at the end of the cut result gives it' };
  return [
    {
      definition: {
        name: 'read_large_output',
        title: 'Read a large output',
        description: 'Reads a piece of a result that was too large to be shown whole.',
        inputSchema: {
          type: 'object',
          properties: {
            id,
            offset: { type: 'integer', minimum: 0, description: 'First byte; default 0' },
            bytes: {
              type: 'integer',
              minimum: 1,
              maximum: MAX_BYTES,
              description: `Default ${DEFAULT_BYTES}`,
            },
          },
          required: ['id'],
        },
        annotations: { readOnlyHint: true, openWorldHint: false },
      },
      async run({ args, caller }) {
        const { offset = 0, bytes = DEFAULT_BYTES } = args;
        const piece = await outputs.read(caller.sessionId, String(args.id), Number(offset), Number(bytes));
        const rest = piece.next < piece.bytes ? `go on with offset ${piece.next}` : 'this is the end';
        return textResult(`${piece.text}\n[bytes ${offset} to ${piece.next} of ${piece.bytes}; ${rest}]`);
      },
    },
    {
      definition: {
        name: 'search_large_output',
        title: 'Search a large output',
        description:
          'Finds the lines that hold given words in a result that was too large to be shown whole.',
        inputSchema: {
          type: 'object',
          properties: { id, query: { type: 'string', minLength: 1 } },
          required: ['id', 'query'],
        },
        annotations: { readOnlyHint: true, openWorldHint: false },
      },
      async run({ args, caller }) {
        const query = String(args.query);
        const lines = await outputs.search(caller.sessionId, String(args.id), query, MAX_LINES);
        return textResult(lines.length > 0 ? lines.join('\n') : `No line holds ${JSON.stringify(query)}.`);
      },
    },
  ];
}
