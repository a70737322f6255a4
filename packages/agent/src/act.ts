import type { JsonObject } from '@mcpbridge/shared/json-rpc.js';
import { compileSchema } from '@mcpbridge/shared/validate.js';
import { CIRCLE, isCircle } from './circles.js';
import type { LoopContext } from './context.js';
import { findTools } from './find-tools.js';
import type { OpenCall } from './journal.js';
import type { LocalTool } from './local-tools.js';
import { merged } from './merged.js';
import { mark, type RunStep, stepsOf } from './steps.js';
import type { Outcome } from './tool-bridge.js';

const AT_ONCE = 8;

/**
 * Carries out the calls of one answer, one after the other or at once; one that fails does not sink the others. Answers
 * the proposals that have to be decided before the run can go on.
 */
export async function* act(context: LoopContext, calls: OpenCall[]): AsyncGenerator<RunStep, string[]> {
  const waiting: string[] = [];
  const tasks = calls.map((call) => (tell: (step: RunStep) => void) => one(context, call, waiting, tell));
  yield* merged(tasks, context.isParallel ? AT_ONCE : 1);
  return waiting;
}

async function one(
  context: LoopContext,
  open: OpenCall,
  waiting: string[],
  tell: (step: RunStep) => void,
): Promise<void> {
  const { journal, signal, pausing } = context;
  signal.throwIfAborted();
  pausing.throwIfAborted();
  // One at a time: what comes after may depend on what a person decides first.
  if (!context.isParallel && waiting.length > 0) return;
  const begun = performance.now();
  const outcome = await outcomeInTime(context, open, tell);
  if (outcome.kind === 'waiting') {
    waiting.push(...outcome.proposals);
    return;
  }
  const { callId, tool, call } = open;
  if (outcome.kind === 'pending') {
    waiting.push(outcome.proposal);
    if (journal.proposalOf(callId)) return;
    const args = 'arguments' in call ? call.arguments : {};
    const { proposal, expiresAt } = outcome;
    const entry = await journal.append({
      kind: 'proposal',
      callId,
      tool,
      arguments: args,
      proposal,
      expiresAt,
    });
    tell(mark(entry, { type: 'proposal', id: callId, tool, arguments: args, proposal, expiresAt }));
    return;
  }
  const { kind, usage, run, pictures, ...told } = outcome;
  const more = { ...(usage ? { usage } : {}), ...(run ? { run } : {}), ...(pictures ? { pictures } : {}) };
  const durationMs = Math.round(performance.now() - begun);
  const entry = await journal.append({ kind, callId, tool, ...told, ...more, durationMs });
  for (const step of stepsOf(entry)) tell(step);
}

/** What still runs when the time of the run is over is cancelled, and told as that. */
async function outcomeInTime(context: LoopContext, open: OpenCall, tell: (step: RunStep) => void) {
  const { late, signal } = context;
  try {
    return await outcomeOf({ ...context, signal: AbortSignal.any([signal, late]) }, open, tell);
  } catch (thrown) {
    if (!late.aborted || signal.aborted) throw thrown;
    return wrong('CALL_CANCELLED', 'The time of the run was over before there was a result.');
  }
}

async function outcomeOf(
  { journal, bridge, local, signal }: LoopContext,
  { callId, tool, call }: OpenCall,
  tell: (step: RunStep) => void,
): Promise<Outcome | { kind: 'waiting'; proposals: string[] }> {
  if ('malformed' in call) {
    return wrong(
      'INVALID_ARGUMENTS',
      `The arguments of "${tool}" are no JSON object: ${call.malformed.slice(0, 500)}`,
    );
  }
  // What waits for a person was asked for once, however often it is looked at.
  if (!journal.proposalOf(callId) && isCircle(journal.entries, tool, call.arguments)) {
    return wrong(
      CIRCLE,
      `This very call of "${tool}" was made several times with the same result, and would have it again. Do something else, or give your answer with what is known.`,
    );
  }
  const own = [...local, findTools(bridge)].find(({ definition }) => definition.name === tool);
  if (!own) return bridge.call(tool, call.arguments, callId, signal);
  const faults = faultsOf(own, call.arguments);
  if (faults.length > 0)
    return wrong('INVALID_ARGUMENTS', `The arguments do not fit "${tool}": ${faults.join('; ')}.`);
  return own.run({ args: call.arguments, callId, signal }, tell);
}

function faultsOf({ definition }: LocalTool, args: JsonObject): string[] {
  return compileSchema(definition.inputSchema)(args);
}

function wrong(code: string, text: string): Outcome {
  return { kind: 'result', text, isError: true, code };
}
