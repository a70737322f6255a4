import { isObject } from '@mcpbridge/shared/json-rpc.js';
import type { AgentEvent } from '../launch-types.js';
import { answerText, bareName, objectsOf, stringOf } from './content.js';
import { type ClientDriver, SERVER } from './driver.js';

const PREFIX = `mcp__${SERVER}__`;

export const claude: ClientDriver = {
  command: 'claude',
  prepare({ prompt, entry, folder }) {
    const config = folder.write('claude.json', JSON.stringify({ mcpServers: { [SERVER]: entry } }));
    const only = ['--allowedTools', `mcp__${SERVER}`, '--mcp-config', config, '--strict-mcp-config'];
    // --verbose: without it this format is refused. Last, since the first two take all words that follow.
    return { args: ['--print', ...only, '--output-format', 'stream-json', '--verbose'], stdin: prompt };
  },
  reader: () => (raw) => {
    const { type, message } = raw;
    if (type === 'result') {
      const text = stringOf(raw.result);
      return [raw.is_error === true ? { type: 'error', message: text, raw } : { type: 'final', text, raw }];
    }
    const blocks = isObject(message) ? objectsOf(message.content) : [];
    const events = blocks.flatMap((block): AgentEvent[] => {
      if (block.type === 'text' && type === 'assistant')
        return [{ type: 'text', text: stringOf(block.text), raw }];
      if (block.type === 'tool_use') {
        const tool = bareName(block.name, PREFIX);
        return [{ type: 'tool_call', id: stringOf(block.id), tool, args: block.input, raw }];
      }
      if (block.type !== 'tool_result') return [];
      const text = answerText(block.content);
      const isError = block.is_error === true;
      return [{ type: 'tool_result', id: stringOf(block.tool_use_id), text, isError, raw }];
    });
    return events.length > 0 ? events : [{ type: 'other', raw }];
  },
};
