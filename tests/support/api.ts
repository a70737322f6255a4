import request from 'supertest';
import type { RunningOrchestrator } from './orchestrator.js';

/** supertest on a running orchestrator, with its token and, when given, a session. */
export function api(running: RunningOrchestrator, session?: string) {
  const agent = request.agent(running.url);
  return agent.set(running.headers(session));
}

/** One JSON-RPC request to `/mcp`; answers status, headers, and the message (of a stream: all of them). */
export async function postMcp(
  running: RunningOrchestrator,
  message: object,
  headers: Record<string, string> = {},
  path = '/mcp',
): Promise<{ status: number; headers: Headers; messages: Record<string, unknown>[] }> {
  const response = await fetch(`${running.url}${path}`, {
    method: 'POST',
    headers: {
      ...running.headers(),
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', ...message }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, messages: messagesIn(text) };
}

function messagesIn(text: string): Record<string, unknown>[] {
  if (text === '') return [];
  if (text.startsWith('{')) return [JSON.parse(text)];
  return text
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice('data: '.length)));
}

/** The metadata that every modern request carries. */
export const modernMeta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1.0.0' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

export function modernHeaders(method: string, name?: string): Record<string, string> {
  return {
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    ...(name ? { 'mcp-name': name } : {}),
  };
}
