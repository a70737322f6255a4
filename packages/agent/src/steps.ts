import type { Entry } from '@mcpbridge/shared/conversation.js';
import type { RunStep, Step } from '@mcpbridge/shared/run-step.js';
import { nameOf } from './pictures.js';

export type { RunStep, Step };

/** What an entry of the store tells, for those who were not there. */
export function stepsOf(entry: Entry): RunStep[] {
  return plainSteps(entry).map((step) => mark(entry, step));
}

export function mark(entry: Entry, step: Step): RunStep {
  return { ...step, run: entry.runId, at: entry.seq + placeOf(entry, step) / 1000 };
}

function placeOf(entry: Entry, step: Step): number {
  if (step.type === 'tool_call') return 3 + Number(step.id.slice(step.id.lastIndexOf('.') + 1));
  if (entry.kind === 'assistant') return ['thinking', 'text', 'usage'].indexOf(step.type);
  return step.type === 'usage' ? 0 : 1;
}

function plainSteps(entry: Entry): Step[] {
  switch (entry.kind) {
    case 'user':
      return [{ type: 'user', text: entry.text }];
    case 'note':
      return [];
    case 'assistant':
      return [
        ...(entry.thinking ? [{ type: 'thinking' as const, text: entry.thinking }] : []),
        ...(entry.text ? [{ type: 'text' as const, text: entry.text }] : []),
        ...acted(entry),
      ];
    case 'proposal': {
      const { callId: id, proposal, tool, arguments: args, expiresAt } = entry;
      return [{ type: 'proposal', id, proposal, tool, arguments: args, expiresAt }];
    }
    case 'result': {
      const { callId: id, tool, text, isError, code, durationMs, pictures } = entry;
      const more = { ...(code ? { code } : {}), ...(pictures ? { pictures: pictures.map(nameOf) } : {}) };
      return [{ type: 'tool_result', id, tool, text, isError, ...more, durationMs }];
    }
    case 'plan': {
      const { steps, because, usage, brain } = entry;
      return [
        { type: 'usage', usage, brain },
        { type: 'plan', steps, ...(because ? { because } : {}) },
      ];
    }
    case 'step':
      return [{ type: 'step', step: entry.step, ok: entry.ok, text: entry.text }];
    case 'answer': {
      const { text, data, stopped } = entry;
      const more = { ...(data === undefined ? {} : { data }), ...(stopped ? { stopped } : {}) };
      return [{ type: 'final_answer', text, ...more }];
    }
    case 'error':
      return [{ type: 'error', code: entry.code, message: entry.message }];
  }
}

/** Of an answer of the model all but its words, which were told in pieces. */
export function acted(entry: Entry & { kind: 'assistant' }): Step[] {
  const { usage, brain, calls } = entry;
  return [
    { type: 'usage', usage, brain },
    ...calls.map((call, index) => ({
      type: 'tool_call' as const,
      id: callIdOf(entry, index),
      tool: call.tool,
      arguments: 'arguments' in call ? call.arguments : { malformed: call.malformed },
    })),
  ];
}

/** The id under which the orchestrator knows the call: the same each time that the run is taken up. */
export function callIdOf(entry: Entry, index: number): string {
  return `${entry.runId}:${entry.seq}.${index}`;
}
