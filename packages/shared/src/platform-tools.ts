import type { BridgeTool } from './bridge-tools.js';
import type { ToolDefinition } from './tools.js';

/**
 * The tools that every agent with an orchestrator gets, and no others: an app adds its own for its own agents
 * (`additionalBridgeTools`), never here. `read_image` is not one of them: the session's policy admits it.
 */
export const PLATFORM_TOOLS: readonly BridgeTool[] = [
  custom({
    name: 'execute_shell_command',
    title: 'Shell command',
    description: 'Runs a command in the shell of the workspace and answers its output and exit code.',
    inputSchema: {
      type: 'object',
      properties: {
        command: { type: 'string', minLength: 1, description: 'The command line, as for sh -c.' },
        timeout: { type: 'integer', minimum: 1, description: 'Seconds after which it is ended.' },
        working_directory: { type: 'string', description: 'Folder to run in, relative to the workspace.' },
      },
      required: ['command'],
    },
  }),
  custom({
    name: 'diff_patch_workspace_file',
    title: 'Patch a file',
    description: 'Changes, or creates, one file of the workspace by a unified diff.',
    inputSchema: {
      type: 'object',
      properties: {
        filepath: { type: 'string', minLength: 1, description: 'The file, relative to the workspace.' },
        diff: { type: 'string', minLength: 1, description: 'A unified diff of that file alone.' },
      },
      required: ['filepath', 'diff'],
    },
  }),
  custom({
    name: 'agent_browser',
    title: 'Browser',
    description: 'Drives a browser: opens pages, reads them, clicks, types, takes screenshots.',
    inputSchema: {
      type: 'object',
      properties: {
        command: {
          type: 'string',
          minLength: 1,
          description: 'What to do: open, snapshot, click, fill, press, screenshot, wait, eval, close …',
        },
        args: { type: 'array', items: { type: 'string' }, description: 'What the command is given.' },
        session: {
          type: 'string',
          minLength: 1,
          description: 'Name of the browser to use; a new one opens.',
        },
      },
      required: ['command', 'session'],
    },
  }),
  {
    type: 'virtual',
    server: '',
    definition: {
      name: 'get_api_spec',
      title: 'API of a tool',
      description:
        'Tells how to call one or several tools over HTTP with curl: address, parameters with their types, what each means.',
      inputSchema: {
        type: 'object',
        properties: {
          tool_name: {
            description: 'Name of a tool, or a list of names.',
            anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }],
          },
          format: {
            type: 'string',
            enum: ['text', 'openapi'],
            description: 'text (default): short; openapi: an OpenAPI document with the whole schemas.',
          },
        },
        required: ['tool_name'],
      },
      annotations: { readOnlyHint: true },
    },
  },
];

/** Listed for those sessions alone whose policy allows it by its name. */
export const READ_IMAGE: ToolDefinition = {
  name: 'read_image',
  title: 'Look at an image',
  description:
    'Looks at an image of the workspace (PNG, JPEG, GIF, WebP) and answers a question about it, or gives the image itself where no vision model is set.',
  inputSchema: {
    type: 'object',
    properties: {
      filepath: { type: 'string', minLength: 1, description: 'The file, relative to the workspace.' },
      query: { type: 'string', description: 'What to find out; default: a description with all text in it.' },
      model_id: { type: 'string', minLength: 1, description: 'Another model of the same provider.' },
    },
    required: ['filepath'],
  },
  annotations: { readOnlyHint: true },
};

function custom(definition: ToolDefinition): BridgeTool {
  return { type: 'custom', server: '', definition };
}

/** One of them by its name. */
export function platformTool(name: string): ToolDefinition {
  const tool = PLATFORM_TOOLS.find(({ definition }) => definition.name === name);
  if (!tool) throw new Error(`"${name}" is no platform tool.`);
  return tool.definition;
}
