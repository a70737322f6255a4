import type { Entry } from '@mcpbridge/shared/conversation.js';
import type { OfferedTool } from './brains/brain.js';
import type { LocalTool } from './local-tools.js';
import type { ToolBridge } from './tool-bridge.js';
import { estimateTokens } from './window.js';

const NAME = 'find_tools';
/** Of its window a model is given at most so much for the descriptions of tools. */
const SHARE = 0.25;
const FOUND = /^- ([A-Za-z0-9_-]+):/gm;

/** For catalogs that are too large to hand over whole: the model says what it needs, and is offered what was found. */
export function findTools(bridge: ToolBridge): LocalTool {
  return {
    definition: {
      name: NAME,
      description:
        'Finds tools by words. There are more tools than those that you see: what is found here can be called afterwards.',
      inputSchema: {
        type: 'object',
        properties: { words: { type: 'string', minLength: 1, description: 'What the tool should do' } },
        required: ['words'],
      },
    },
    async run({ args, signal }) {
      const found = await bridge.search(String(args.words), signal);
      const lines = found.map(({ name, description }) => `- ${name}: ${description.split('\n')[0]}`);
      return { kind: 'result', text: lines.join('\n') || 'No tool fits these words.', isError: false };
    },
  };
}

/** All tools where they fit; else those that were found or used so far, as the entries tell. */
export function withinWindow(
  tools: readonly OfferedTool[],
  window: number,
  entries: readonly Entry[],
): { tools: readonly OfferedTool[]; isPart: boolean } {
  if (estimateTokens(tools) <= window * SHARE) return { tools, isPart: false };
  const names = new Set<string>();
  for (const entry of entries) {
    if (entry.kind !== 'result') continue;
    names.add(entry.tool);
    if (entry.tool === NAME) for (const [, name = ''] of entry.text.matchAll(FOUND)) names.add(name);
  }
  return { tools: tools.filter(({ name }) => names.has(name)), isPart: true };
}
