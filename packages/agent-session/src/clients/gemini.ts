import { isObject } from '@mcpbridge/shared/json-rpc.js';
import { bareName, stringOf } from './content.js';
import { CALL_LIMIT_MS, type ClientDriver, SERVER } from './driver.js';
import { geminiHome } from './gemini-home.js';

const PREFIX = `mcp_${SERVER}_`;

export const gemini: ClientDriver = {
  command: 'gemini',
  prepare({ prompt, entry, folder, env }) {
    const server = { ...entry, trust: true, timeout: CALL_LIMIT_MS };
    return {
      args: ['--allowed-mcp-server-names', SERVER, '--output-format', 'stream-json'],
      stdin: prompt,
      env: {
        GEMINI_CLI_HOME: geminiHome(env, folder, { [SERVER]: server }),
        // In other folders it starts no server.
        GEMINI_CLI_TRUST_WORKSPACE: 'true',
      },
    };
  },
  reader() {
    // Texts come in pieces.
    let last = '';
    return (raw) => {
      const { type, status } = raw;
      const id = stringOf(raw.tool_id);
      if (type === 'message' && raw.role === 'assistant') {
        const text = stringOf(raw.content);
        last += text;
        return [{ type: 'text', text, raw }];
      }
      if (type === 'tool_use') {
        last = '';
        return [{ type: 'tool_call', id, tool: bareName(raw.tool_name, PREFIX), args: raw.parameters, raw }];
      }
      if (type === 'tool_result')
        return [{ type: 'tool_result', id, text: stringOf(raw.output), isError: status === 'error', raw }];
      if (type !== 'result') return [{ type: 'other', raw }];
      if (status === 'success') return [{ type: 'final', text: last, raw }];
      const message = isObject(raw.error) ? stringOf(raw.error.message) : 'It failed and said no more.';
      return [{ type: 'error', message, raw }];
    };
  },
};
