import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';
import type { AgentEvent } from '../launch-types.js';
import { bareName, stringOf } from './content.js';
import { CALL_LIMIT_MS, type ClientDriver, SERVER } from './driver.js';

const PREFIX = `${SERVER}_`;

export const opencode: ClientDriver = {
  command: 'opencode',
  async prepare({ prompt, entry, ask }) {
    const known = await ask(['debug', 'config']);
    const others = isObject(known) && isObject(known.mcp) ? Object.keys(known.mcp) : [];
    const off = Object.fromEntries(others.map((name) => [name, { enabled: false }]));
    const { command, args, env: environment } = entry;
    const own = {
      type: 'local',
      command: [command, ...args],
      environment,
      enabled: true,
      timeout: CALL_LIMIT_MS,
    };
    const config = { mcp: { ...off, [SERVER]: own } };
    return {
      args: ['run', '--format', 'json'],
      stdin: prompt,
      env: { OPENCODE_CONFIG_CONTENT: JSON.stringify(config) },
    };
  },
  reader() {
    let last = '';
    return (raw) => {
      const part = isObject(raw.part) ? raw.part : {};
      if (raw.type === 'text') {
        last = stringOf(part.text);
        return [{ type: 'text', text: last, raw }];
      }
      if (raw.type === 'tool_use') return toolEvents(part, raw);
      if (raw.type === 'step_finish' && part.reason === 'stop') return [{ type: 'final', text: last, raw }];
      if (raw.type === 'error') return [{ type: 'error', message: messageOf(raw.error), raw }];
      return [{ type: 'other', raw }];
    };
  },
};

/** It tells of a call when the call is over. */
function toolEvents(part: JsonObject, raw: JsonObject): AgentEvent[] {
  const state = isObject(part.state) ? part.state : {};
  const id = stringOf(part.callID);
  const isError = state.status === 'error';
  const text = stringOf(isError ? state.error : state.output);
  return [
    { type: 'tool_call', id, tool: bareName(part.tool, PREFIX), args: state.input, raw },
    { type: 'tool_result', id, text, isError, raw },
  ];
}

function messageOf(error: unknown): string {
  if (!isObject(error)) return stringOf(error);
  const inner = isObject(error.data) ? error.data.message : error.message;
  return stringOf(inner) || stringOf(error.name);
}
