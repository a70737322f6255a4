import { openSync, writeSync } from 'node:fs';
import { messageOf } from '@mcpbridge/shared/errors.js';

/** Lines for people: on stderr what they should know, in the file of `MCP_BRIDGE_LOG` all of it. */
export class BridgeLog {
  private file: number | undefined;
  private stderrIsOpen = false;

  constructor(path: string | undefined) {
    if (!path) return;
    try {
      this.file = openSync(path, 'a', 0o600);
    } catch (error) {
      this.warn(`MCP_BRIDGE_LOG cannot be written: ${messageOf(error)}`);
    }
  }

  get isKept(): boolean {
    return this.file !== undefined;
  }

  note(text: string): void {
    if (this.file === undefined) return;
    const line = `${new Date().toISOString()} ${process.pid} ${oneLine(text)}\n`;
    try {
      writeSync(this.file, line);
    } catch (error) {
      // A full disk must not end the bridge; say so once and go on without the file.
      this.file = undefined;
      this.warn(`MCP_BRIDGE_LOG cannot be written any more: ${messageOf(error)}`);
    }
  }

  warn(text: string): void {
    // A client may have closed our stderr; nobody is left to be told.
    if (!this.stderrIsOpen) process.stderr.on('error', () => {});
    this.stderrIsOpen = true;
    process.stderr.write(`mcpbridge: ${oneLine(text)}\n`);
    this.note(text);
  }
}

function oneLine(text: string): string {
  return text.replace(/[\r\n]+/g, ' ');
}
