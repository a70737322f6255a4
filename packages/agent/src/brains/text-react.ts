import type { Usage } from '@mcpbridge/shared/conversation.js';
import { timeOrderedId } from '@mcpbridge/shared/ids.js';
import {
  addUsage,
  type Brain,
  type BrainEvent,
  type BrainRequest,
  costOf,
  NO_USAGE,
  type Reply,
} from './brain.js';
import type { BrainConfig } from './config.js';
import { classify, cutOff } from './failure.js';
import { openAiClient, usageOf } from './openai.js';
import { reactPrompt } from './react-prompt.js';
import { readReact, type Written } from './react-text.js';

/** Generation ends before the model writes an Observation of its own. */
const STOP = ['\nObservation:', 'Observation:'];

interface Completed {
  text: string;
  usage: Usage;
  isCut: boolean;
}

/** A model without native tool calls, at a plain completion endpoint: it writes its calls as text. */
export function textReactBrain({ name, model, ...config }: BrainConfig): Brain {
  const client = openAiClient(config);

  async function* complete(prompt: string, signal: AbortSignal): AsyncGenerator<BrainEvent, Completed> {
    const sdk = await client();
    const stream = await sdk.completions.create(
      { model, prompt, stream: true, stop: STOP, max_tokens: config.maxTokens ?? 1024 },
      { signal },
    );
    let text = '';
    let finish: string | null = null;
    let usage = NO_USAGE;
    for await (const chunk of stream) {
      const choice = chunk.choices[0];
      if (chunk.usage) usage = usageOf(chunk.usage);
      if (!choice) continue;
      // llama.cpp's older servers end with an empty reason.
      finish = choice.finish_reason ?? finish;
      if (choice.text === '') continue;
      text += choice.text;
      yield { type: 'thinking', text: choice.text };
    }
    if (finish === null) throw cutOff(name);
    return { text, usage: costOf(usage, config.price), isCut: finish === 'length' };
  }

  async function* ask(request: BrainRequest, signal: AbortSignal): AsyncGenerator<BrainEvent> {
    const names = request.tools.map((tool) => tool.name);
    const prompt = reactPrompt(request);
    let completed = yield* complete(prompt, signal);
    let written = readReact(completed.text, timeOrderedId(), names);
    let { usage } = completed;
    if (written.kind === 'broken') {
      const repair = `${prompt}${completed.text.trim()}\n\nQuestion: That could not be read: ${written.fault}. Write it once more in the form above.\n\n`;
      completed = yield* complete(repair, signal);
      usage = addUsage(usage, completed.usage);
      written = readReact(completed.text, timeOrderedId(), names);
    }
    const reply = replyOf(written, usage, completed);
    if (reply.text !== '' && reply.calls.length === 0) yield { type: 'text', text: reply.text };
    yield { type: 'reply', reply };
  }

  return {
    name,
    window: config.window ?? 8192,
    ...(config.price ? { price: config.price } : {}),
    async *ask(request, signal) {
      try {
        yield* ask(request, signal);
      } catch (thrown) {
        throw signal.aborted ? signal.reason : classify(name, thrown, config.apiKey);
      }
    },
  };
}

/** What stays broken after its repair is told to the model as the failed call that it was meant to be. */
function replyOf(written: Written, usage: Usage, { text, isCut }: Completed): Reply {
  const { thought } = written;
  const plain = { usage, isCut, thinking: written.kind === 'answer' ? thought : '' };
  if (written.kind === 'answer') return { ...plain, text: written.text, calls: [] };
  if (written.kind === 'call') return { ...plain, text: thought, calls: [written.call] };
  const call = { id: timeOrderedId(), tool: 'unreadable', malformed: text.trim().slice(0, 500) };
  return { ...plain, text: thought, calls: [call] };
}
