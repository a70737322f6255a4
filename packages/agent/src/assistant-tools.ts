import type { CancelSignal } from '@mcpbridge/shared/cancel.js';
import type { Run } from '@mcpbridge/shared/conversation.js';
import { AppError } from '@mcpbridge/shared/errors.js';
import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';
import type { ToolDefinition, ToolResult } from '@mcpbridge/shared/tools.js';
import type { Asker, Assistant } from './assistant.js';
import { definitions } from './assistant-definitions.js';
import type { ChatRequest } from './run-request.js';
import { shownConversation, shownEntry, shownRun } from './shown.js';
import { lineOf } from './step-line.js';

export interface AssistantCall {
  asker: Asker;
  args: JsonObject;
  signal: CancelSignal;
  /** A line about what happens now. */
  tell(line: string): void;
}

export interface AssistantTool {
  definition: ToolDefinition;
  run(call: AssistantCall): Promise<ToolResult>;
}

/** Decides a proposal; false: it does not wait any more. */
export interface Proposals {
  get(id: string): Promise<{ sessionId: string } | undefined>;
  decide(id: string, decision: { accept: boolean; note?: string; arguments?: JsonObject }): Promise<boolean>;
}

/** The agent as seven tools, for any MCP client. */
export function assistantTools(assistant: Assistant, proposals: Proposals): AssistantTool[] {
  const runs: Record<keyof typeof definitions, AssistantTool['run']> = {
    assistant_chat: (call) => chat(assistant, call),
    async assistant_status({ asker, args }) {
      const { run_id: runId, conversation_id: conversationId } = args;
      if (typeof runId === 'string') return answer(shownRun(await assistant.run(asker, runId)));
      if (typeof conversationId !== 'string')
        throw new AppError('INVALID_ARGUMENTS', 'Give "run_id" or "conversation_id".');
      return answer({ runs: (await assistant.runsOf(asker, conversationId)).map(shownRun) });
    },
    async assistant_cancel({ asker, args }) {
      return answer(shownRun(await assistant.cancel(asker, String(args.run_id))));
    },
    async assistant_history({ asker, args }) {
      const entries = await assistant.history(asker, String(args.conversation_id));
      return answer({ entries: entries.map(shownEntry) });
    },
    async assistant_conversations({ asker, args }) {
      const found = await assistant.conversations(asker, Number(args.limit ?? 20));
      return answer({ conversations: found.map(shownConversation) });
    },
    async assistant_list_backends() {
      const missions = (await assistant.missions.list()).map((one) =>
        'mission' in one ? { name: one.name, description: one.mission.description } : one,
      );
      return answer({ backends: assistant.backends(), missions });
    },
    async assistant_proposal_respond({ asker, args }) {
      const { proposal_id: id, accept, note, arguments: edited } = args;
      const proposal = await proposals.get(String(id));
      // A call of the asker's own session is for a person to decide, not for whoever made it.
      if (!proposal || !(await assistant.mayDecide(asker, proposal.sessionId)))
        throw new AppError('NOT_FOUND', `No proposal "${id}" of your agents waits for an answer.`);
      const decision = {
        accept: accept === true,
        ...(typeof note === 'string' ? { note } : {}),
        ...(isObject(edited) ? { arguments: edited } : {}),
      };
      if (!(await proposals.decide(String(id), decision)))
        throw new AppError('NOT_FOUND', `No proposal "${id}" waits for an answer.`);
      return answer({ proposal_id: id, status: accept === true ? 'accepted' : 'rejected' });
    },
  };
  return Object.entries(runs).map(([name, run]) => ({
    definition: definitions[name as keyof typeof definitions],
    run,
  }));
}

/** The whole road of a question: it answers when the agent has, or when a person has to say yes first. */
async function chat(assistant: Assistant, { asker, args, signal, tell }: AssistantCall): Promise<ToolResult> {
  const run = await assistant.chat(asker, readChat(args));
  if (args.wait === false) return answer(shownRun(run));
  const onAbort = () => void assistant.cancel(asker, run.id).catch(() => undefined);
  signal.addEventListener('abort', onAbort);
  try {
    const ended = await assistant.watch(asker, run.id, 0, (step) => {
      const line = lineOf(step);
      if (line) tell(line);
    });
    return told(ended);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

export function readChat(args: JsonObject): ChatRequest {
  const { message, conversation_id: conversationId, backend, mission, inputs, strategy, after } = args;
  return {
    message: String(message ?? ''),
    ...(typeof conversationId === 'string' ? { conversationId } : {}),
    ...(typeof backend === 'string' ? { backend } : {}),
    ...(typeof mission === 'string' ? { mission } : {}),
    ...(isObject(inputs) ? { inputs } : {}),
    ...(isStrategy(strategy) ? { strategy } : {}),
    ...(typeof after === 'number' ? { after } : {}),
  };
}

function isStrategy(value: unknown): value is NonNullable<ChatRequest['strategy']> {
  return value === 'auto' || value === 'react' || value === 'parallel' || value === 'plan';
}

/** The words for models that read text alone, the same and the ids for those that read what is structured. */
function told(run: Run): ToolResult {
  const structuredContent = shownRun(run);
  const ids = `[conversation_id: ${run.conversationId}, run_id: ${run.id}]`;
  const text = (words: string, isError = false): ToolResult => ({
    content: [{ type: 'text', text: `${words}\n\n${ids}` }],
    structuredContent,
    ...(isError ? { isError } : {}),
  });
  if (run.state === 'waiting') {
    const waiting = run.proposals?.join(', ');
    return text(
      `A person has to say yes first; answer with assistant_proposal_respond. Proposals: ${waiting}`,
    );
  }
  if (run.state !== 'done') return text(run.error?.message ?? 'The run was cancelled.', true);
  const stopped = run.stopped ? `\n\n(Stopped early: ${run.stopped}.)` : '';
  return text(`${run.answer ?? ''}${stopped}`);
}

function answer(content: JsonObject): ToolResult {
  return { content: [{ type: 'text', text: JSON.stringify(content, null, 1) }], structuredContent: content };
}
