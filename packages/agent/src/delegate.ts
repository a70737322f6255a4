import type { Run } from '@mcpbridge/shared/conversation.js';
import { NO_USAGE } from './brains/brain.js';
import type { LocalTool } from './local-tools.js';
import { narrower } from './prefixes.js';
import type { AgentSessions } from './sessions.js';
import type { RunStep } from './steps.js';
import type { StepEnd } from './strategies/plan.js';

type Start = (child: Run, tell: (step: RunStep) => void) => Promise<StepEnd>;

/** A sub-agent: a run of its own in a session under this run's, with no more tools than this one, or fewer. */
export function delegateTool(run: Run, start: Start, { sessions }: { sessions: AgentSessions }): LocalTool {
  return {
    definition: {
      name: 'delegate',
      description:
        'Has a part of the work done by a sub-agent that sees nothing but the task, and answers its result. Several at once are fine.',
      inputSchema: {
        type: 'object',
        properties: {
          task: { type: 'string', minLength: 1, description: 'What to do, with all that is needed to do it' },
          tools: {
            type: 'array',
            items: { type: 'string', minLength: 1 },
            description: 'Beginnings of the names of tools that it needs; absent: the same as yours',
          },
        },
        required: ['task'],
      },
    },
    async run({ args, callId }, tell) {
      const id = callId.replace(':', '.d');
      const wanted = Array.isArray(args.tools) ? args.tools.map(String) : undefined;
      const allowedPrefixes = narrower(run.allowedPrefixes, wanted);
      const agentSession = await sessions.open(run.agentSession, { id: `agent-${id}`, allowedPrefixes });
      const { after, output, canDelegate, isStep, allowedPrefixes: _all, ...rest } = run;
      const child: Run = {
        ...rest,
        id,
        parent: run.id,
        strategy: 'parallel',
        because: 'it works for another agent',
        message: String(args.task),
        agentSession,
        ...(allowedPrefixes ? { allowedPrefixes } : {}),
        startedAt: Date.now(),
        usage: NO_USAGE,
        state: 'running',
      };
      const end = await start(child, tell);
      if (end.state === 'waiting') return { kind: 'waiting', proposals: end.proposals };
      await sessions.end(agentSession);
      const { text, usage } = end;
      return { kind: 'result', text, isError: end.state === 'failed', usage, run: id };
    },
  };
}
