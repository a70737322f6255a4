import { Cancel } from '@mcpbridge/shared/cancel.js';
import { AppError } from '@mcpbridge/shared/errors.js';
import type { ToolResult } from '@mcpbridge/shared/tools.js';
import type { Approvals } from './calls/approvals.js';
import type { CallPipeline } from './calls/pipeline.js';
import type { Catalog } from './catalog/catalog.js';
import type { ToolSearch } from './catalog/search.js';
import type { McpEndpoint } from './mcp-server/endpoint.js';
import type { FunctionTool } from './providers/function-provider.js';
import type { ProviderCall } from './providers/provider.js';
import { contents, type Read } from './providers/virtual/contents.js';
import { finders } from './providers/virtual/finders.js';
import { getApiSpec } from './providers/virtual/get-api-spec.js';
import { type AskPerson, humanFeedback } from './providers/virtual/human-feedback.js';
import { largeOutputs } from './providers/virtual/large-outputs.js';
import { type CodeHost, runCode } from './providers/workspace/run-code.js';
import type { Sessions } from './sessions/sessions.js';
import type { Outputs } from './store/outputs.js';

interface Parts {
  catalog: Catalog;
  sessions: Sessions;
  pipeline: CallPipeline;
  approvals: Approvals;
  search: ToolSearch;
  endpoint: McpEndpoint;
  outputs: Outputs;
  code: Omit<CodeHost, 'call'>;
}

/** Our own tools, each given what it needs of the house. */
export function virtualTools(parts: Parts): FunctionTool[] {
  const { catalog, sessions, search, outputs } = parts;
  const tools = (sessionId: string) => catalog.view(sessionId).tools;
  return [
    getApiSpec({ tools, find: (name, sessionId) => catalog.resolve({ name }, sessionId) }),
    humanFeedback(askPerson(parts)),
    ...largeOutputs(outputs),
    ...contents(readWithin(parts)),
    ...finders({
      tools,
      search: (sessionId, query, limit) => search.find(catalog.view(sessionId), query, limit),
      isCode: (sessionId) => sessions.get(sessionId)?.effective.catalog === 'code',
      call: callWithin(parts, 'call_tool'),
    }),
    runCode({ ...parts.code, call: callWithin(parts, 'run_code') }),
  ];
}

/** A call that a tool makes for its caller: checked and recorded as any other, and cancelled with the outer one. */
function callWithin({ sessions, pipeline }: Parts, client: string) {
  return (name: string, args: unknown, outer: ProviderCall): Promise<ToolResult> => {
    const session = sessions.get(outer.caller.sessionId);
    if (!session) throw new AppError('CALL_CANCELLED', 'The session was ended.');
    const abort = new Cancel();
    const onAbort = () => abort.abort(outer.signal.reason);
    outer.signal.addEventListener('abort', onAbort);
    const { meta, listener } = outer;
    const call = pipeline.run({
      session,
      target: { name },
      args,
      abort,
      meta,
      listener,
      client,
      parent: outer.id,
      via: 'call',
    });
    return call.finally(() => outer.signal.removeEventListener('abort', onAbort));
  };
}

function readWithin({ sessions, endpoint }: Parts): Read {
  return (method, params, { caller, signal, listener = {} }) => {
    const session = sessions.get(caller.sessionId);
    if (!session) throw new AppError('CALL_CANCELLED', 'The session was ended.');
    const abort = new Cancel();
    const onAbort = () => abort.abort(signal.reason);
    signal.addEventListener('abort', onAbort);
    const read = endpoint.read(method, params, { session, abort, listener });
    return read.finally(() => signal.removeEventListener('abort', onAbort));
  };
}

function askPerson({ sessions, approvals }: Parts): AskPerson {
  return ({ caller: { sessionId }, text, options }, signal, listener) => {
    const principal = sessions.get(sessionId)?.owner ?? '';
    const asked = { question: text, ...(options.length > 0 ? { options } : {}) };
    const whose = { principal, sessionId, server: 'virtual', tool: 'human_feedback' };
    const asking = approvals.ask({ kind: 'question', ...whose, arguments: asked }, signal, listener);
    return asking.then(({ note = '' }) => note);
  };
}
