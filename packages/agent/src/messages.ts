import type { Entry } from '@mcpbridge/shared/conversation.js';
import type { Message, ToolAnswer } from './brains/brain.js';
import { callIdOf } from './steps.js';

/** The entries of a conversation as a model is told them; every call has its result, in the order of the calls. */
export function messagesOf(entries: readonly Entry[]): Message[] {
  const results = new Map<string, Entry & { kind: 'result' }>();
  for (const entry of entries) if (entry.kind === 'result') results.set(entry.callId, entry);
  const messages: Message[] = [];
  for (const entry of entries) {
    if (entry.kind === 'user' || entry.kind === 'note') addUser(messages, entry.text);
    else if (entry.kind === 'answer' && !entry.isSaid)
      messages.push({ role: 'assistant', text: entry.text, calls: [] });
    else if (entry.kind === 'assistant') {
      const { text, calls, raw, brain } = entry;
      if (text.trim() === '' && calls.length === 0) continue;
      messages.push({ role: 'assistant', text, calls, raw, brain });
      if (calls.length > 0) messages.push({ role: 'results', answers: answersOf(entry, results) });
    }
  }
  return messages;
}

/** Two messages of a person in a row are one; some models take no other. */
function addUser(messages: Message[], text: string): void {
  const last = messages.at(-1);
  if (last?.role === 'user')
    messages[messages.length - 1] = { role: 'user', text: `${last.text}\n\n${text}` };
  else messages.push({ role: 'user', text });
}

function answersOf(
  entry: Entry & { kind: 'assistant' },
  results: ReadonlyMap<string, Entry & { kind: 'result' }>,
): ToolAnswer[] {
  return entry.calls.map(({ id, tool }, index) => {
    const result = results.get(callIdOf(entry, index));
    if (!result) return { id, tool, text: 'There is no result: the run ended before.', isError: true };
    const { text, isError, pictures } = result;
    return { id, tool, text, isError, ...(pictures ? { pictures } : {}) };
  });
}
