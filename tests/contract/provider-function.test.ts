import { setTimeout as sleep } from 'node:timers/promises';
import { FunctionProvider, type FunctionTool } from '@mcpbridge/orchestrator/providers/function-provider.js';
import type { ProviderCall } from '@mcpbridge/orchestrator/providers/provider.js';
import { AppError } from '@mcpbridge/shared/errors.js';
import type { JsonObject } from '@mcpbridge/shared/json-rpc.js';
import { textResult } from '@mcpbridge/shared/tools.js';
import { describeProvider } from './describe-provider.js';

function tool(
  name: string,
  run: FunctionTool['run'],
  more: JsonObject = {},
  properties: JsonObject = {},
): FunctionTool {
  return { definition: { name, inputSchema: { type: 'object', properties }, ...more }, run };
}

function untilAborted({ signal }: ProviderCall): Promise<never> {
  return new Promise((_, reject) => {
    const stop = () => {
      const { reason } = signal;
      reject(reason instanceof AppError ? reason : new AppError('CALL_CANCELLED', 'The call was cancelled.'));
    };
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}

const tools: FunctionTool[] = [
  tool(
    'echo',
    ({ args }) => textResult(String(args.text ?? '')),
    { annotations: { readOnlyHint: true, 'x-own': 1 } },
    { text: { type: 'string' } },
  ),
  tool('fail', ({ args }) => textResult(String(args.text), true)),
  tool(
    'odd',
    () => ({
      content: [
        { type: 'hologram', density: 3, annotations: { audience: ['user'] } },
        { type: 'text', text: 'odd', 'x-own': [1, 2] },
      ],
      structuredContent: ['not', 'an', 'object'],
      'x-result': { kept: true },
      _meta: { 'ex.org/trace': 'abc' },
    }),
    { 'x-vendor': { kept: true }, icons: [{ src: 'data:,x' }], _meta: { 'ex.org/a': 1 } },
  ),
  tool('progress', async ({ args, listener }) => {
    const total = Number(args.steps);
    for (let progress = 1; progress <= total; progress++) {
      listener?.progress?.({ progress, total, message: `step ${progress}` });
      await sleep(1);
    }
    return textResult(`${total} steps`);
  }),
  tool('slow', async ({ args }) => sleep(Number(args.ms), textResult('slept'))),
  tool('hang', untilAborted),
  tool('ask', async ({ args, listener, signal }) => {
    const answer = await listener?.ask?.(String(args.method), args.params as JsonObject, signal);
    return textResult(JSON.stringify(answer));
  }),
];

describeProvider('functions', async () => {
  const provider = new FunctionProvider('own', 'virtual', tools);
  return { provider, stop: () => provider.close() };
});
