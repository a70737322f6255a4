import type { ServerResponse } from 'node:http';
import type { Asker, Assistant } from '@mcpbridge/agent/assistant.js';
import { shownRun } from '@mcpbridge/agent/shown.js';
import { asAppError } from './reply.js';

/** A proxy between us and a page may take a silent connection for a dead one. */
const ALIVE_EVERY_MS = 15_000;

/** A run as it happens: what was before first, then each step, then `end` with the run's state. Never rejects. */
export async function writeRun(
  response: ServerResponse,
  assistant: Assistant,
  asker: Asker,
  runId: string,
  since: number,
): Promise<void> {
  response.writeHead(200, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-cache, no-transform',
  });
  response.flushHeaders();
  const gone = new AbortController();
  const alive = setInterval(() => response.write(': still here\n\n'), ALIVE_EVERY_MS).unref();
  response.on('close', () => {
    clearInterval(alive);
    gone.abort();
  });
  const send = (event: string, data: unknown, id?: number) => {
    const head = id === undefined ? '' : `id: ${id}\n`;
    if (!response.destroyed) response.write(`${head}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  };
  try {
    const tell = (step: { at?: number }) => send('step', step, step.at);
    send('end', shownRun(await assistant.watch(asker, runId, since, tell, gone.signal)));
  } catch (thrown) {
    send('error', asAppError(thrown).toBody());
  }
  response.end();
}
