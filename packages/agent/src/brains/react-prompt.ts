import { inWords } from '../pictures.js';
import type { BrainRequest, Message } from './brain.js';

/** A conversation as one text, which the model goes on with. */
export function reactPrompt({ system, messages, tools, calling }: BrainRequest): string {
  const parts = [system.trim()];
  if (tools.length > 0 && calling !== 'none') {
    parts.push(
      `You can use these tools:\n${tools.map(({ name, description, inputSchema }) => `- ${name}: ${description}\n  input: ${JSON.stringify(inputSchema)}`).join('\n')}`,
      `Write in exactly this form, one action at a time:

Thought: what you think
Action: the name of one tool
Action Input: its input, as one JSON object

Then stop: the Observation is written for you. When you know enough:

Thought: what you think
Final Answer: your answer`,
    );
  } else parts.push('Write "Final Answer:" and then your answer.');
  return `${[...parts, ...messages.map(asText)].join('\n\n')}\n\n`;
}

function asText(message: Message): string {
  if (message.role === 'user') return `Question: ${message.text}`;
  if (message.role === 'results')
    return message.answers
      .map((answer) => `Observation: ${answer.isError ? 'Error: ' : ''}${inWords(answer)}`)
      .join('\n');
  const [call] = message.calls;
  if (!call) return `Final Answer: ${message.text}`;
  const input = 'arguments' in call ? JSON.stringify(call.arguments) : call.malformed;
  const thought = message.text === '' ? '' : `Thought: ${message.text}\n`;
  return `${thought}Action: ${call.tool}\nAction Input: ${input}`;
}
