import { writeFileSync } from 'node:fs';
import { messageOf } from '@mcpbridge/shared/errors.js';
import type { BridgeLog } from './bridge-log.js';

/** `MCP_READY_FILE`: written once, when the client has been given its tools. */
export class ReadyFile {
  constructor(
    private path: string | undefined,
    private readonly log: BridgeLog,
  ) {}

  write(): void {
    const { path } = this;
    if (!path) return;
    this.path = undefined;
    try {
      writeFileSync(path, 'ready\n', { mode: 0o600 });
    } catch (error) {
      this.log.warn(`MCP_READY_FILE cannot be written: ${messageOf(error)}`);
    }
  }
}
