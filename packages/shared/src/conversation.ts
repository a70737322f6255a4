import type { JsonObject } from './json-rpc.js';

/** What an agent and its host both know of conversations (packages/agent); the host keeps them. */
export interface Conversation {
  id: string;
  /** The session that it was begun in; with the token of another one nobody sees it. */
  sessionId: string;
  /** The principal of that session. */
  owner: string;
  title: string;
  mission?: string;
  /** The narrower session in which the agent calls tools. */
  agentSession?: string;
  /** Milliseconds since the epoch, as all times here. */
  createdAt: number;
  updatedAt: number;
}

export type RunState = 'running' | 'waiting' | 'done' | 'failed' | 'cancelled';

export interface Limits {
  /** Answers of the model. */
  iterations: number;
  /** Milliseconds. */
  time: number;
  tokens?: number;
  /** US dollars; needs a brain with prices. */
  cost?: number;
}

export interface Usage {
  inputTokens: number;
  /** Of those, read from the provider's cache. */
  cachedTokens?: number;
  /** Of those, written into it. */
  cacheWrittenTokens?: number;
  outputTokens: number;
  /** US dollars, where the prices are known. */
  cost?: number;
}

export type StrategyName = 'react' | 'parallel' | 'plan';

export interface Run {
  id: string;
  conversationId: string;
  /** The run that this one works for: as a step of its plan, or asked by its model. */
  parent?: string;
  state: RunState;
  /** What is to be done, whole: a run that is taken up again needs nothing else. */
  message: string;
  /** The entry after which it goes on; absent: the conversation begins here. */
  after?: number;
  brains: string[];
  strategy: StrategyName;
  /** By which rule the strategy was chosen. */
  because: string;
  instructions?: string;
  /** Beginnings of the names of tools that it may use; absent: all that its session may. */
  allowedPrefixes?: string[];
  approve?: string[];
  /** The session in which it calls tools. */
  agentSession: string;
  limits: Limits;
  /** A schema that the answer has to fit. */
  output?: JsonObject;
  /** It may have parts of its work done by sub-agents. */
  canDelegate?: boolean;
  /** It is a step of its parent's plan. */
  isStep?: boolean;
  /** What the mission says of the first brain. */
  brainOptions?: JsonObject;
  startedAt: number;
  endedAt?: number;
  usage: Usage;
  answer?: string;
  data?: unknown;
  /** Why it ended before it was done. */
  stopped?: string;
  error?: { code: string; message: string };
  /** What it waits for. */
  proposals?: string[];
}

/** A tool call as a model asked for it. */
export type ModelCall = { id: string; tool: string } & (
  | { arguments: JsonObject }
  /** What it wrote was no JSON object. */
  | { malformed: string }
);

/** One line of a conversation; written before it is acted on. */
export type EntryContent =
  | { kind: 'user'; text: string }
  /** Said to the model by the loop itself. */
  | { kind: 'note'; text: string; last?: string }
  | {
      kind: 'assistant';
      text: string;
      thinking?: string;
      calls: ModelCall[];
      usage: Usage;
      brain: string;
      /** The model stopped because its answer was too long. */
      isCut?: boolean;
      /** As the provider wants it back. */
      raw?: unknown;
    }
  | {
      kind: 'proposal';
      callId: string;
      proposal: string;
      tool: string;
      arguments: JsonObject;
      expiresAt: string;
    }
  | {
      kind: 'result';
      callId: string;
      tool: string;
      text: string;
      isError: boolean;
      code?: string;
      durationMs: number;
      /** Images of the result, base64. */
      pictures?: { mimeType: string; data: string }[];
      /** Of a sub-agent. */
      run?: string;
      usage?: Usage;
    }
  | { kind: 'plan'; steps: PlanStep[]; because?: string; usage: Usage; brain: string }
  | { kind: 'step'; step: string; run: string; ok: boolean; text: string; usage: Usage }
  | { kind: 'answer'; text: string; data?: unknown; stopped?: string; usage?: Usage; isSaid?: boolean }
  | { kind: 'error'; code: string; message: string };

export interface PlanStep {
  id: string;
  task: string;
  /** Steps whose results it needs. */
  after: string[];
}

export type Entry = EntryContent & {
  /** Grows with every entry of all conversations. */
  seq: number;
  runId: string;
  at: number;
};

/** What lasts of an agent's work. Each promise resolves when it is on disk. */
export interface ConversationStore {
  saveConversation(conversation: Conversation): Promise<void>;
  conversation(id: string): Promise<Conversation | undefined>;
  /** Used last first; of one session, of one principal, or of all. */
  conversations(of: { sessionId?: string; owner?: string; limit: number }): Promise<Conversation[]>;
  saveRun(run: Run): Promise<void>;
  run(id: string): Promise<Run | undefined>;
  /** In the order in which they began. */
  runs(of: { conversationId?: string; parent?: string; states?: RunState[] }): Promise<Run[]>;
  append(conversationId: string, runId: string, content: EntryContent): Promise<Entry>;
  /** In their order. */
  entries(of: { conversationId: string } | { runId: string }): Promise<Entry[]>;
}
