import { readFile } from 'node:fs/promises';
import { AppError } from '@mcpbridge/shared/errors.js';
import { homeFolder, tokenFile } from '@mcpbridge/shared/locate.js';

/** Where the command finds the orchestrator: the same variables as the bridge's. */
export async function readCommandSettings(
  env: NodeJS.ProcessEnv = process.env,
): Promise<{ url: string; token: string }> {
  const url = env.MCP_API_URL || 'http://127.0.0.1:8080';
  const file = env.MCP_API_TOKEN_FILE || tokenFile(homeFolder(env));
  const token = env.MCP_API_TOKEN || (await readFile(file, 'utf8').catch(() => '')).trim();
  if (token !== '') return { url, token };
  const sentence = `There is no token in ${file}: start the orchestrator on this machine, or set MCP_API_TOKEN.`;
  throw new AppError('UNAUTHORIZED', sentence);
}
