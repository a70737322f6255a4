import type { JsonObject } from '@mcpbridge/shared/json-rpc.js';
import type { OfferedTool } from './brains/brain.js';
import type { RunStep } from './steps.js';
import type { Outcome } from './tool-bridge.js';

export interface LocalCall {
  args: JsonObject;
  callId: string;
  signal: AbortSignal;
}

/** A tool that the agent itself carries out; what happens in it may be told. */
export interface LocalTool {
  definition: OfferedTool;
  run(
    call: LocalCall,
    tell: (step: RunStep) => void,
  ): Promise<Outcome | { kind: 'waiting'; proposals: string[] }>;
}
