import type { RunStep } from './steps.js';

/** One line about a step, for progress; undefined: it is not worth one. */
export function lineOf(step: RunStep): string | undefined {
  switch (step.type) {
    case 'tool_call':
      return `${step.tool} ${short(JSON.stringify(step.arguments))}`;
    case 'tool_result':
      return `${step.tool} ${step.isError ? 'failed' : 'answered'} after ${duration(step.durationMs)}: ${short(step.text)}`;
    case 'proposal':
      return `${step.tool} waits for a person's yes`;
    case 'plan':
      return `${step.because ? 'A new plan' : 'A plan'}: ${step.steps.map(({ task }) => short(task, 60)).join(' · ')}`;
    case 'step':
      return `Step ${step.step} ${step.ok ? 'is done' : 'failed'}: ${short(step.text)}`;
    case 'retry':
      return step.reason;
    case 'error':
      return step.message;
    default:
      return undefined;
  }
}

export function short(text: string, characters = 120): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > characters ? `${line.slice(0, characters - 1)}…` : line;
}

export function duration(ms: number): string {
  return ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`;
}
