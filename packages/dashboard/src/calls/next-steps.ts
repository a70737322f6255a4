/** What a person can do about a failure, by its code (docs/errors.md says more). */
export const NEXT_STEPS: Record<string, string> = {
  TOOL_FAILED: 'The tool itself said so: look at its result, change the arguments, replay.',
  INVALID_ARGUMENTS: 'Replay with arguments that fit the tool’s schema.',
  TOOL_NOT_ALLOWED: 'The policy of its session does not allow this tool; change it in Sessions.',
  TOOL_CHANGED:
    'The server describes this tool in another way than when it was accepted; see what changed in Servers.',
  NOT_APPROVED: 'Nobody approved it in time, or somebody refused it.',
  UNKNOWN_TOOL: 'See in Tools what the session can call.',
  UNKNOWN_SERVER: 'See in Servers what is configured.',
  LIMIT_REACHED: 'The session has a limit of calls; wait, or raise it in Sessions.',
  PROVIDER_UNAVAILABLE: 'The server is down; Servers says why and when it is tried again.',
  CONNECTION_LOST: 'The server ended during the call; its output in Servers may say why.',
  CALL_TIMEOUT:
    'The server took longer than allowed; raise "timeout" of its entry, or see what it waits for.',
  RESULT_TOO_LARGE: 'Ask the tool for less, or raise the limit.',
  PROVIDER_ERROR: 'The server refused the request in its own words.',
  CALL_CANCELLED: 'Its caller went away, or somebody cancelled it.',
  TOO_MANY_PROCESSES: 'Too many server processes run; end sessions, or raise the cap.',
  INTERNAL: 'This is a fault of the orchestrator; its log says more.',
};

export const RETRYABLE = new Set([
  'LIMIT_REACHED',
  'PROVIDER_UNAVAILABLE',
  'TOO_MANY_PROCESSES',
  'SHUTTING_DOWN',
]);
