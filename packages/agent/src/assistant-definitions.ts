import type { JsonObject } from '@mcpbridge/shared/json-rpc.js';
import type { ToolDefinition } from '@mcpbridge/shared/tools.js';

const text = (description: string): JsonObject => ({ type: 'string', description });
const READ_ONLY = { readOnlyHint: true, openWorldHint: false };

export const chatProperties: JsonObject = {
  message: { type: 'string', minLength: 1, description: 'What you want to know or to have done' },
  conversation_id: text('To go on with an earlier conversation'),
  after: {
    type: 'integer',
    description: 'The entry of that conversation after which to go on, for a branch',
  },
  backend: text('Which brain, as assistant_list_backends names it'),
  mission: text('Name of a mission file, which says what the agent may use'),
  inputs: { type: 'object', description: 'What the mission asks for' },
  strategy: {
    enum: ['auto', 'react', 'parallel', 'plan'],
    description: 'auto: chosen by the question; absent: as the mission says, else auto',
  },
};

export const definitions = {
  assistant_chat: {
    name: 'assistant_chat',
    title: 'Ask the agent',
    description:
      'Has the bundled agent answer a question or carry out a task with the tools of this session. Answers when it is done, or when a person has to say yes to one of its calls first.',
    inputSchema: {
      type: 'object',
      properties: {
        ...chatProperties,
        wait: {
          type: 'boolean',
          description: 'false: answer at once with the run_id, and ask assistant_status later',
        },
      },
      required: ['message'],
    },
  },
  assistant_status: {
    name: 'assistant_status',
    title: 'State of an agent’s run',
    description:
      'Tells the state of a run, or of all runs of a conversation, with answers and what waits for a yes.',
    inputSchema: {
      type: 'object',
      properties: { run_id: { type: 'string' }, conversation_id: { type: 'string' } },
    },
    annotations: READ_ONLY,
  },
  assistant_cancel: {
    name: 'assistant_cancel',
    title: 'Stop an agent’s run',
    description: 'Stops a run; what it did stays done.',
    inputSchema: { type: 'object', properties: { run_id: { type: 'string' } }, required: ['run_id'] },
    annotations: { destructiveHint: false, idempotentHint: true, openWorldHint: false },
  },
  assistant_history: {
    name: 'assistant_history',
    title: 'History of a conversation',
    description:
      'Every question, answer, tool call and result of a conversation with the agent, in their order.',
    inputSchema: {
      type: 'object',
      properties: { conversation_id: { type: 'string' } },
      required: ['conversation_id'],
    },
    annotations: READ_ONLY,
  },
  assistant_conversations: {
    name: 'assistant_conversations',
    title: 'Conversations with the agent',
    description: 'The conversations that this session had with the agent, the latest first.',
    inputSchema: {
      type: 'object',
      properties: { limit: { type: 'integer', minimum: 1, maximum: 200, default: 20 } },
    },
    annotations: READ_ONLY,
  },
  assistant_list_backends: {
    name: 'assistant_list_backends',
    title: 'Brains and missions of the agent',
    description: 'Which brains the agent can think with, the default first, and which missions there are.',
    inputSchema: { type: 'object', properties: {} },
    annotations: READ_ONLY,
  },
  assistant_proposal_respond: {
    name: 'assistant_proposal_respond',
    title: 'Answer a proposal of the agent',
    description:
      'Says yes or no to a call that the agent proposed in a conversation of this session. Ask your user first: the answer is theirs to give.',
    inputSchema: {
      type: 'object',
      properties: {
        proposal_id: { type: 'string' },
        accept: { type: 'boolean' },
        note: text('Why, for the agent to read'),
        arguments: { type: 'object', description: 'With a yes: in the place of the proposed ones' },
      },
      required: ['proposal_id', 'accept'],
    },
  },
} as const satisfies Record<string, ToolDefinition>;
