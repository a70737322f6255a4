import { messageOf } from '@mcpbridge/shared/errors.js';
import { platformTool } from '@mcpbridge/shared/platform-tools.js';
import { type ToolResult, textResult } from '@mcpbridge/shared/tools.js';
import type { FunctionTool } from '../function-provider.js';
import type { ProviderCall } from '../provider.js';
import type { Browsers } from './browsers.js';
import type { Said, SessionFiles } from './command.js';
import { COMMANDS, usage } from './commands.js';

/** The platform tool: what goes wrong in the browser is the tool's own failure, with what the browser says. */
export function agentBrowser(
  browsers: Browsers,
  filesOf: (call: ProviderCall) => SessionFiles,
): FunctionTool {
  return {
    definition: platformTool('agent_browser'),
    async run(call) {
      // The schema has been checked.
      const {
        command,
        args = [],
        session,
      } = call.args as { command: string; args?: string[]; session: string };
      try {
        return resultOf(await carriedOut(command.trim().toLowerCase(), args, session, call));
      } catch (error) {
        return textResult(plain(messageOf(error)), true);
      }
    },
  };

  async function carriedOut(
    command: string,
    args: string[],
    name: string,
    call: ProviderCall,
  ): Promise<Said | string> {
    const { sessionId } = call.caller;
    switch (command) {
      case 'help':
      case 'skills':
        return usage();
      case 'status':
        return `Open: ${browsers.names(sessionId).join(', ') || 'none'}`;
      case 'close':
        return (await browsers.end(sessionId, name)) ? 'Closed.' : 'It was not open.';
      case 'reset':
        await browsers.end(sessionId, name, true);
        return 'Closed, with all that it knew.';
    }
    const known = COMMANDS[command];
    if (!known) throw new Error(`There is no command "${command}". ${usage()}`);
    return browsers.use(sessionId, name, (browser) => {
      if (call.signal.aborted) throw new Error('The call was cancelled.');
      return known.run({ browser, args, files: filesOf(call), check: (url) => check(browsers, url) });
    });
  }
}

/** Pages and data alone: a file's address would show what is no business of the session's. */
async function check({ gateway }: Browsers, given: string): Promise<void> {
  if (given === 'about:blank') return;
  if (!URL.canParse(given)) throw new Error(`"${given}" is no address.`);
  const { protocol, hostname, port } = new URL(given);
  if (protocol !== 'http:' && protocol !== 'https:')
    throw new Error(`The browser opens http and https addresses, not "${protocol}".`);
  await gateway.addressOf(hostname, Number(port || (protocol === 'http:' ? 80 : 443)));
}

function resultOf(said: Said | string): ToolResult {
  if (typeof said === 'string') return textResult(said);
  const image = said.png && { type: 'image', data: said.png.toString('base64'), mimeType: 'image/png' };
  return { content: [{ type: 'text', text: said.text }, ...(image ? [image] : [])] };
}

/** Without the colours that are meant for terminals. */
function plain(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what they begin with
  return text.replaceAll(/\u001b\[\d+m/g, '');
}
