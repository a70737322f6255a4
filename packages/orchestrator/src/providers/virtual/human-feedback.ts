import type { CancelSignal } from '@mcpbridge/shared/cancel.js';
import { textResult } from '@mcpbridge/shared/tools.js';
import type { FunctionTool } from '../function-provider.js';
import type { Caller, CallListener } from '../provider.js';

/** Puts a question to a person; answers their words. Rejects with NOT_APPROVED when they decline or do not answer. */
export type AskPerson = (
  question: { caller: Caller; text: string; options: string[] },
  signal: CancelSignal,
  listener?: CallListener,
) => Promise<string>;

/** The person answers where approvals are given. */
export function humanFeedback(ask: AskPerson): FunctionTool {
  return {
    definition: {
      name: 'human_feedback',
      title: 'Ask a person',
      description: 'Asks the person who watches over this session, and waits for the answer.',
      inputSchema: {
        type: 'object',
        properties: {
          question: {
            type: 'string',
            description: 'What you want to know, with what is needed to decide it',
          },
          options: { type: 'array', items: { type: 'string' }, description: 'Answers to choose from' },
        },
        required: ['question'],
      },
      annotations: { readOnlyHint: true },
    },
    async run({ args, caller, signal, listener }) {
      const options = Array.isArray(args.options) ? args.options.map(String) : [];
      return textResult(await ask({ caller, text: String(args.question), options }, signal, listener));
    },
  };
}
