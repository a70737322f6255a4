import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';
import type { BridgeConfig } from 'mcpbridge/client-config.js';
import type { AgentEvent } from '../launch-types.js';
import { answerText, objectsOf, stringOf } from './content.js';
import { CALL_LIMIT_MS, type ClientDriver, SERVER } from './driver.js';

export const codex: ClientDriver = {
  command: 'codex',
  async prepare({ prompt, entry, ask }) {
    const others = objectsOf(await ask(['mcp', 'list', '--json'])).map(({ name }) => stringOf(name));
    const off = others.filter((name) => name !== SERVER).map((name) => `mcp_servers.${name}.enabled=false`);
    const config = [...off, `mcp_servers.${SERVER}=${serverTable(entry)}`].flatMap((line) => ['-c', line]);
    const args = ['exec', '--json', '--skip-git-repo-check', ...config];
    return { args, stdin: prompt, env: entry.env };
  },
  reader() {
    let last = '';
    return (raw) => {
      const { type, item } = raw;
      if (type === 'turn.completed') return [{ type: 'final', text: last, raw }];
      if (type === 'turn.failed') return [{ type: 'error', message: messageOf(raw.error), raw }];
      if (type === 'error') return [{ type: 'error', message: stringOf(raw.message), raw }];
      if (!isObject(item)) return [{ type: 'other', raw }];
      if (type === 'item.completed' && item.type === 'agent_message') {
        last = stringOf(item.text);
        return [{ type: 'text', text: last, raw }];
      }
      return [item.type === 'mcp_tool_call' ? toolEvent(type, item, raw) : { type: 'other', raw }];
    };
  },
};

/** The values go by the CLI's environment and only their names by its arguments, which everybody can see. */
function serverTable({ command, args, env }: BridgeConfig): string {
  const settings = {
    command: JSON.stringify(command),
    args: JSON.stringify(args),
    env_vars: JSON.stringify(Object.keys(env)),
    // Otherwise it goes on without the tools after a second, and asks a person who is not there.
    required: 'true',
    default_tools_approval_mode: '"approve"',
    tool_timeout_sec: String(CALL_LIMIT_MS / 1000),
  };
  return `{${Object.entries(settings)
    .map(([name, value]) => `${name}=${value}`)
    .join(',')}}`;
}

function toolEvent(type: unknown, item: JsonObject, raw: JsonObject): AgentEvent {
  const id = stringOf(item.id);
  if (type === 'item.started')
    return { type: 'tool_call', id, tool: stringOf(item.tool), args: item.arguments, raw };
  if (type !== 'item.completed') return { type: 'other', raw };
  const text = isObject(item.error) ? messageOf(item.error) : answerText(item.result);
  return { type: 'tool_result', id, text, isError: item.status === 'failed', raw };
}

function messageOf(error: unknown): string {
  return isObject(error) ? stringOf(error.message) : stringOf(error);
}
