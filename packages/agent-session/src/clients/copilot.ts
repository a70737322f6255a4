import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';
import type { AgentEvent } from '../launch-types.js';
import { answerText, bareName, stringOf } from './content.js';
import { type ClientDriver, SERVER } from './driver.js';

const PREFIX = `${SERVER}-`;

export const copilot: ClientDriver = {
  command: 'copilot',
  async prepare({ prompt, entry, folder, ask }) {
    const config = { mcpServers: { [SERVER]: { type: 'local', ...entry, tools: ['*'] } } };
    const path = folder.write('copilot.json', JSON.stringify(config));
    const listed = await ask(['mcp', 'list', '--json']);
    const others = isObject(listed) && isObject(listed.mcpServers) ? Object.keys(listed.mcpServers) : [];
    const off = others.filter((name) => name !== SERVER).flatMap((name) => ['--disable-mcp-server', name]);
    const only = ['--additional-mcp-config', `@${path}`, '--disable-builtin-mcps', ...off];
    return { args: ['--output-format', 'json', `--allow-tool=${SERVER}`, ...only], stdin: prompt };
  },
  reader() {
    let last = '';
    return (raw) => {
      const data = isObject(raw.data) ? raw.data : {};
      const id = stringOf(data.toolCallId);
      switch (raw.type) {
        case 'assistant.message':
          if (data.content === '') return [{ type: 'other', raw }];
          last = stringOf(data.content);
          return [{ type: 'text', text: last, raw }];
        case 'tool.execution_start':
          return [
            { type: 'tool_call', id, tool: bareName(data.toolName, PREFIX), args: data.arguments, raw },
          ];
        case 'tool.execution_complete':
          return [{ type: 'tool_result', id, text: resultOf(data), isError: data.success !== true, raw }];
        case 'session.error':
          return [{ type: 'error', message: stringOf(data.message), raw }];
        case 'result':
          return [ending(raw, last)];
        default:
          return [{ type: 'other', raw }];
      }
    };
  },
};

function resultOf({ result, error }: JsonObject): string {
  if (isObject(error)) return stringOf(error.message);
  if (!isObject(result)) return '';
  return Array.isArray(result.contents) ? answerText(result.contents) : stringOf(result.content);
}

function ending(raw: JsonObject, text: string): AgentEvent {
  if (raw.exitCode === 0) return { type: 'final', text, raw };
  return { type: 'error', message: `It ended with ${raw.exitCode}.`, raw };
}
