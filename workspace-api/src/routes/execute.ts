import { AppError } from '@mcpbridge/shared/errors.js';
import type { JsonObject } from '@mcpbridge/shared/json-rpc.js';
import type { CommandRequest } from '../shell/shell.js';
import { EventStream } from './event-stream.js';
import type { WorkspaceCall, WorkspaceReply, WorkspaceRoute } from './route.js';

const MAX_SECONDS = 24 * 60 * 60;
/** Of a command line; the system takes no more in one argument. */
const MAX_LINE = 120_000;

const executeSchema: JsonObject = {
  type: 'object',
  properties: {
    command: { type: 'string', minLength: 1, maxLength: MAX_LINE, description: 'The line, as for sh -c' },
    working_directory: { type: 'string', description: 'Default: the folder of the session' },
    timeout: {
      type: 'number',
      exclusiveMinimum: 0,
      maximum: MAX_SECONDS,
      description: 'Seconds after which it is ended',
    },
    env: {
      type: 'object',
      additionalProperties: { type: 'string' },
      description: 'Variables MCP_*, SECRET_*, VAR_* … for the command',
    },
    stdin: { type: 'string', description: 'What it reads; default: nothing' },
    max_output: {
      type: 'integer',
      minimum: 1000,
      maximum: 4 * 1024 * 1024,
      description: 'Bytes to keep of each stream, of its beginning and its end',
    },
    interactive: {
      type: 'boolean',
      description:
        'With text/event-stream: the first event, "started", has an id to give it more to read under',
    },
    background: { type: 'boolean', description: 'Answer at once with an id, while it runs on' },
  },
  required: ['command'],
  additionalProperties: false,
};

const stdinSchema: JsonObject = {
  type: 'object',
  properties: { text: { type: 'string' }, end: { type: 'boolean' } },
  additionalProperties: false,
};

export const executeRoutes: WorkspaceRoute[] = [
  {
    method: 'POST',
    path: '/api/execute',
    summary: 'Run a command within the folders of the session; with Accept: text/event-stream as it prints',
    body: executeSchema,
    withEnv: true,
    tool: 'execute_shell_command',
    run: execute,
  },
  {
    method: 'GET',
    path: '/api/execute',
    summary: 'Commands of the session in the background',
    run: async ({ services, guard }) => ({ body: { commands: services.shell.list(guard) } }),
  },
  {
    method: 'DELETE',
    path: '/api/execute',
    summary: 'End all that runs for the session, and remove its temporary files',
    async run({ services, guard }) {
      await services.shell.endSession(guard.sessionId);
      return { body: { status: 'ended' } };
    },
  },
  {
    method: 'GET',
    path: '/api/execute/{id}',
    summary: 'What a command in the background has printed, and how it ended',
    run: async ({ services, guard, params: { id = '' } }) => ({
      body: { ...services.shell.look(guard, id) },
    }),
  },
  {
    method: 'POST',
    path: '/api/execute/{id}/stdin',
    summary: 'Give an interactive command more to read; with "end" it is the last',
    body: stdinSchema,
    async run({ services, guard, params: { id = '' }, body }) {
      services.shell.feed(guard, id, String(body.text ?? ''), body.end === true);
      return { body: { id } };
    },
  },
  {
    method: 'DELETE',
    path: '/api/execute/{id}',
    summary: 'End a command in the background',
    run: async ({ services, guard, params: { id = '' } }) => ({
      body: { ...(await services.shell.end(guard, id)) },
    }),
  },
];

async function execute(call: WorkspaceCall): Promise<WorkspaceReply | undefined> {
  const { services, guard, body, request, response, signal } = call;
  const wanted = requestOf(body);
  if (body.background === true) {
    return { status: 202, body: { ...(await services.shell.startInBackground(guard, wanted)) } };
  }
  if (!request.headers.accept?.includes('text/event-stream')) {
    return { body: { ...(await services.shell.run(guard, wanted, signal)) } };
  }
  const events = new EventStream(response);
  const outcome = services.shell.run(
    guard,
    wanted,
    signal,
    (stream, text) => events.print(stream, text),
    (id) => {
      if (wanted.interactive) events.started(id);
    },
  );
  await events.finish(outcome);
  return undefined;
}

function requestOf(body: JsonObject): CommandRequest {
  // Checked by the route's schema.
  const { command, working_directory, timeout, env, stdin, max_output, interactive } = body as {
    command: string;
    working_directory?: string;
    timeout?: number;
    env?: Record<string, string>;
    stdin?: string;
    max_output?: number;
    interactive?: boolean;
  };
  if (command.includes('\0')) throw new AppError('INVALID_REQUEST', 'The command has a NUL character in it.');
  return {
    command,
    workingDirectory: working_directory,
    timeoutMs: timeout === undefined ? undefined : Math.ceil(timeout * 1000),
    env,
    stdin,
    keptBytes: max_output,
    interactive,
  };
}
