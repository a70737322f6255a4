import type { Journal } from './journal.js';
import type { LocalTool } from './local-tools.js';

const NAME = 'report_failure';

/** By which a step of a plan says that it cannot be done, so that the plan is made anew. */
export const failureTool: LocalTool = {
  definition: {
    name: NAME,
    description: 'Says that your step cannot be done, and why.',
    inputSchema: {
      type: 'object',
      properties: { reason: { type: 'string', minLength: 1 } },
      required: ['reason'],
    },
  },
  run: async ({ args }) => ({
    kind: 'result',
    text: `Noted: ${args.reason}. Answer with one sentence.`,
    isError: false,
  }),
};

export function reportedFailure(journal: Journal): string | undefined {
  for (const entry of journal.entries) {
    if (entry.kind !== 'assistant') continue;
    for (const call of entry.calls)
      if (call.tool === NAME && 'arguments' in call)
        return String(call.arguments.reason ?? 'it gave no reason');
  }
  return undefined;
}
