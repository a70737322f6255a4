import type { ClientName } from '../launch-types.js';
import { claude } from './claude.js';
import { codex } from './codex.js';
import { copilot } from './copilot.js';
import type { ClientDriver } from './driver.js';
import { gemini } from './gemini.js';
import { opencode } from './opencode.js';

export const DRIVERS: Readonly<Record<ClientName, ClientDriver>> = {
  claude,
  codex,
  gemini,
  copilot,
  opencode,
};
