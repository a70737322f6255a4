import { createInterface } from 'node:readline/promises';
import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';
import type { ToolClient } from '@mcpbridge/shared/tool-client.js';
import type { LiveView } from './live-view.js';
import type { RunStep } from './steps.js';

/** Begins a run and shows it to its end; a person at the terminal answers its proposals, else they are named. */
export async function followRun(
  client: ToolClient,
  body: JsonObject,
  view: LiveView,
  canAsk: boolean,
): Promise<number> {
  const begun = await client.request('POST', '/api/agent/runs', body);
  const id = isObject(begun) ? String(begun.run_id) : '';
  const path = `/api/agent/runs/${id}`;
  const onInterrupt = () => void client.request('POST', `${path}/cancel`).catch(() => undefined);
  process.once('SIGINT', onInterrupt);
  try {
    let last = '0';
    for (;;) {
      const proposals = new Map<string, RunStep & { type: 'proposal' }>();
      let end: JsonObject = {};
      for await (const { event, data, id: at } of client.events(`${path}/events`, {
        headers: { 'last-event-id': last },
      })) {
        last = at ?? last;
        if (!isObject(data)) continue;
        if (event === 'end') end = data;
        else {
          const step = data as RunStep;
          if (step.type === 'proposal') proposals.set(step.proposal, step);
          view.step(step);
        }
      }
      if (end.state !== 'waiting') return finish(end, view);
      if (!canAsk) return named(end, view);
      for (const proposal of Array.isArray(end.proposals) ? end.proposals.map(String) : [])
        await decide(client, proposal, proposals.get(proposal), view);
    }
  } finally {
    process.off('SIGINT', onInterrupt);
  }
}

function finish(end: JsonObject, view: LiveView): number {
  view.end(end);
  if (end.state === 'done') return 0;
  const error = isObject(end.error) ? end.error : {};
  view.write(String(error.message ?? `The run ended as ${end.state}.`));
  return 1;
}

function named(end: JsonObject, view: LiveView): number {
  view.end(end);
  for (const id of Array.isArray(end.proposals) ? end.proposals : [])
    view.write(`Waits for a person's yes: in the dashboard, or POST /api/proposals/${id} {"accept": true}`);
  view.write(`Then it goes on by itself: GET /api/agent/runs/${end.run_id}`);
  return 1;
}

async function decide(
  client: ToolClient,
  id: string,
  proposal: (RunStep & { type: 'proposal' }) | undefined,
  view: LiveView,
): Promise<void> {
  view.stopSpinning();
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const what = proposal ? `${proposal.tool} ${JSON.stringify(proposal.arguments)}` : id;
  const answer = await terminal.question(
    `? ${what}\n  Carry it out? y, "y: a word to the agent", or why not: `,
  );
  terminal.close();
  await client.request('POST', `/api/proposals/${id}`, readDecision(answer));
  view.startSpinning();
}

/** Whatever is no plain yes is a no, and says why. */
function readDecision(answer: string): JsonObject {
  const yes = /^\s*y(?:es)?\s*(?::\s*(.*?))?\s*$/i.exec(answer);
  const note = yes ? yes[1] : answer.trim();
  return { accept: yes !== null, ...(note ? { note } : {}) };
}
