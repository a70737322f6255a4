import { AppError } from '@mcpbridge/shared/errors.js';
import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';
import type { ToolDefinition } from '@mcpbridge/shared/tools.js';
import { compileSchema } from '@mcpbridge/shared/validate.js';
import type { Sessions } from '../../sessions/sessions.js';
import type { PlainRoute } from '../routes.js';

const schema: JsonObject = {
  type: 'object',
  properties: {
    name: { type: 'string', pattern: '^(?!.*__)[A-Za-z0-9_-]{1,46}$' },
    title: { type: 'string' },
    description: { type: 'string' },
    inputSchema: { type: 'object' },
    outputSchema: { type: 'object' },
    annotations: { type: 'object' },
    url: { type: 'string' },
  },
  required: ['name', 'url'],
  additionalProperties: false,
};
const check = compileSchema(schema);

interface Deps {
  sessions: Sessions;
  customTools: {
    /** Answers the secret that signs the requests to `url`. */
    register(sessionId: string, definition: ToolDefinition, url: string, isOwner: boolean): Promise<string>;
    remove(sessionId: string, name: string): Promise<void>;
  };
  /** Names of our own tools, which no session may take. */
  isTaken(name: string): boolean;
}

export function sessionToolRoutes({ sessions, customTools, isTaken }: Deps): PlainRoute[] {
  return [
    {
      method: 'POST',
      path: '/api/sessions/{id}/tools',
      summary: 'A tool for this session alone, carried out by a request to its address',
      body: schema,
      forSessions: true,
      async run({ params: { id = '' }, principal, body }) {
        const { url, ...definition } = read(body);
        if (isTaken(definition.name))
          throw new AppError(
            'CONFLICT',
            `The name "${definition.name}" belongs to a tool of the orchestrator.`,
          );
        const { sessionId } = await sessions.enter(principal, id);
        const secret = await customTools.register(
          sessionId,
          definition,
          url,
          principal.sessionId === undefined,
        );
        return { status: 201, body: { name: definition.name, secret } };
      },
    },
    {
      method: 'DELETE',
      path: '/api/sessions/{id}/tools/{name}',
      summary: 'Take a tool of the session away',
      forSessions: true,
      async run({ params: { id = '', name = '' }, principal }) {
        const { sessionId } = await sessions.enter(principal, id);
        await customTools.remove(sessionId, name);
        return { body: { name, status: 'removed' } };
      },
    },
  ];
}

function read(body: unknown): ToolDefinition & { url: string } {
  const faults = check(body);
  if (faults.length > 0 || !isObject(body))
    throw new AppError('INVALID_REQUEST', `The tool cannot be so: ${faults.join('; ')}.`, {
      details: { faults },
    });
  const { name, url, inputSchema = { type: 'object' } } = body;
  return { ...body, name: String(name), url: String(url), inputSchema: inputSchema as JsonObject };
}
