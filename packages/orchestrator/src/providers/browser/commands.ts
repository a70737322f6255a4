import type { Command } from './command.js';
import { pageCommands } from './page-commands.js';
import { readCommands } from './read-commands.js';

export const COMMANDS: Readonly<Record<string, Command>> = { ...pageCommands, ...readCommands };

export function usage(): string {
  const lines = Object.entries(COMMANDS).map(([name, command]) => `${name} ${command.usage}`.trim());
  const own = ['status', 'close', 'reset (closes it and forgets cookies and storage)', 'help'];
  return [
    'Commands with their args. A target is a ref of the last snapshot (e12) or a selector: CSS, text=…, role=button[name="Save"].',
    ...lines,
    ...own,
  ].join('\n');
}
