import { resolve } from 'node:path';
import { AppError } from '@mcpbridge/shared/errors.js';
import { baseUrl } from '@mcpbridge/shared/locate.js';
import { secretFile } from '@mcpbridge/shared/secret-file.js';
import type { OrchestratorAddress } from './sandbox/forward.js';
import { type SearchSettings, searchSettings } from './search-settings.js';
import { readShellSettings, type ShellSettings } from './shell/shell-settings.js';

/** What the environment decides where the workspace runs as a program. This file is its only reader of `process.env`. */
export interface ProgramSettings {
  host: string;
  port: number;
  folder: string;
  token: string;
  search: SearchSettings;
  shell: ShellSettings;
  orchestrator: OrchestratorAddress | undefined;
}

export function readSettings(env: NodeJS.ProcessEnv = process.env): ProgramSettings {
  return {
    host: env.HOST || '127.0.0.1',
    port: port(env.PORT),
    folder: resolve(env.WORKSPACE_DIR || 'workspace'),
    token: env.WORKSPACE_TOKEN_FILE ? secretFile(env.WORKSPACE_TOKEN_FILE) : token(env.WORKSPACE_TOKEN),
    search: searchSettings(env),
    shell: readShellSettings(env),
    orchestrator: orchestrator(env.MCP_API_URL),
  };
}

function port(text: string | undefined): number {
  const value = text ? Number(text) : 8080;
  if (Number.isInteger(value) && value >= 0 && value <= 65_535) return value;
  throw new AppError(
    'CONFIG_INVALID',
    `PORT is "${text}"; set it to a number from 0 to 65535 (0: any free port).`,
  );
}

function token(text = ''): string {
  if (text.length >= 16) return text;
  throw new AppError(
    'CONFIG_INVALID',
    'WORKSPACE_TOKEN is not set, or shorter than 16 characters; set the same one here and for the orchestrator, or WORKSPACE_TOKEN_FILE to a file that both can read.',
  );
}

function orchestrator(text: string | undefined): OrchestratorAddress | undefined {
  if (!text) return undefined;
  try {
    const { hostname, port, protocol } = baseUrl(text);
    if (protocol === 'http:') return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 80) };
  } catch {
    // Told below, with what to set.
  }
  throw new AppError(
    'CONFIG_INVALID',
    `MCP_API_URL is "${text}"; set it to the http address of the orchestrator, for commands that may reach it.`,
  );
}
