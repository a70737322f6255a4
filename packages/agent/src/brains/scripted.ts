import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ModelCall } from '@mcpbridge/shared/conversation.js';
import { AppError, messageOf } from '@mcpbridge/shared/errors.js';
import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';
import { compileSchema } from '@mcpbridge/shared/validate.js';
import { type Brain, type BrainRequest, costOf, type Reply } from './brain.js';
import type { BrainConfig } from './config.js';
import { classify } from './failure.js';

interface Turn {
  text?: string;
  thinking?: string;
  calls?: { tool: string; arguments?: JsonObject }[];
  /** Milliseconds before it answers. */
  delay?: number;
}

const check = compileSchema({
  type: 'array',
  minItems: 1,
  items: {
    type: 'object',
    properties: {
      text: { type: 'string' },
      thinking: { type: 'string' },
      calls: {
        type: 'array',
        items: {
          type: 'object',
          properties: { tool: { type: 'string' }, arguments: { type: 'object' } },
          required: ['tool'],
          additionalProperties: false,
        },
      },
      delay: { type: 'integer', minimum: 0 },
    },
    additionalProperties: false,
  },
});

/**
 * Answers from a file, an array of turns `{text?, thinking?, calls?, delay?}`, for tests and demonstrations. Which turn it
 * is follows from the conversation alone, so a run that is taken up again goes on where it was.
 */
export function scriptedBrain({ name, model: file, window = 200_000, price }: BrainConfig): Brain {
  return {
    name,
    window,
    ...(price ? { price } : {}),
    async *ask({ messages }, signal) {
      const turns = await readTurns(file);
      const turn = turns[turnOf(messages)] ?? { text: 'The script has ended.' };
      if (turn.delay) {
        await sleep(turn.delay, undefined, { signal }).catch(() => {
          throw signal.reason;
        });
      }
      if (signal.aborted) throw signal.reason;
      const { text = '', thinking = '' } = turn;
      if (thinking) yield { type: 'thinking', text: thinking };
      if (text) yield { type: 'text', text };
      const reply = replyOf(turn, turnOf(messages));
      yield { type: 'reply', reply: { ...reply, usage: costOf(reply.usage, price) } };
    },
  };
}

/** Counted from the newest question on. */
function turnOf(messages: BrainRequest['messages']): number {
  const begin = messages.findLastIndex(
    ({ role }, index) => role === 'user' && messages[index - 1]?.role !== 'results',
  );
  return messages.slice(begin).filter(({ role }) => role === 'assistant').length;
}

async function readTurns(file: string): Promise<Turn[]> {
  try {
    const turns: unknown = JSON.parse(await readFile(file, 'utf8'));
    const faults = check(turns);
    if (faults.length > 0 || !Array.isArray(turns)) throw new Error(faults.join('; '));
    return turns.filter(isObject);
  } catch (error) {
    throw classify(
      'scripted',
      new AppError('CONFIG_INVALID', `The script "${file}" cannot be used: ${messageOf(error)}.`),
    );
  }
}

function replyOf({ text = '', thinking = '', calls = [] }: Turn, turn: number): Reply {
  const made: ModelCall[] = calls.map(({ tool, arguments: args = {} }, index) => ({
    id: `turn_${turn}_${index}`,
    tool,
    arguments: args,
  }));
  return { text, thinking, calls: made, usage: { inputTokens: 10, outputTokens: 10 }, isCut: false };
}
