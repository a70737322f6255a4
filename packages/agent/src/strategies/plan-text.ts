import type { PlanStep } from '@mcpbridge/shared/conversation.js';
import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';
import { compileSchema } from '@mcpbridge/shared/validate.js';
import { jsonIn } from '../structured.js';

const schema: JsonObject = {
  type: 'object',
  properties: {
    steps: {
      type: 'array',
      minItems: 1,
      maxItems: 20,
      items: {
        type: 'object',
        properties: {
          id: { type: ['string', 'integer'] },
          task: { type: 'string', minLength: 1 },
          after: { type: 'array', items: { type: ['string', 'integer'] } },
        },
        required: ['id', 'task'],
      },
    },
  },
  required: ['steps'],
};
const check = compileSchema(schema);

/** A plan as a model wrote it: its steps under ids that are new in the run, or what is wrong with it. */
export function readPlan(text: string, version: number): { steps: PlanStep[]; faults: string[] } {
  const plan = jsonIn(text);
  const faults = plan === undefined ? ['it is no JSON'] : check(plan);
  if (faults.length > 0 || !isObject(plan) || !Array.isArray(plan.steps)) return { steps: [], faults };
  const idOf = (id: unknown) =>
    `${version}.${String(id)
      .replaceAll(/[^A-Za-z0-9_-]/g, '_')
      .slice(0, 20)}`;
  const steps: PlanStep[] = plan.steps.map(({ id, task, after = [] }) => ({
    id: idOf(id),
    task: String(task),
    after: after.map(idOf),
  }));
  return { steps, faults: faultsIn(steps) };
}

function faultsIn(steps: readonly PlanStep[]): string[] {
  const ids = new Set(steps.map(({ id }) => id));
  if (ids.size < steps.length) return ['two steps have the same id'];
  for (const { id, after } of steps)
    for (const other of after)
      if (!ids.has(other)) return [`step ${id} comes after ${other}, which is no step`];
  const done = new Set<string>();
  for (;;) {
    const ready = steps.filter(({ id, after }) => !done.has(id) && after.every((other) => done.has(other)));
    if (ready.length === 0) break;
    for (const { id } of ready) done.add(id);
  }
  return done.size === steps.length ? [] : ['steps wait for each other in a circle'];
}
