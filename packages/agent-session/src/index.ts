export type { AgentEvent, ClientName, Launched, LaunchOptions, LaunchResult } from './launch-types.js';
export { createAgentSession } from './session.js';
export type {
  AgentSession,
  AgentSessionOptions,
  AgentTool,
  ArgumentsOf,
  BridgeConfig,
  BridgeToolEntry,
  InputSchema,
  JsonSchema,
  OrchestratorAddress,
  StandardSchema,
  ToolContext,
} from './types.js';
