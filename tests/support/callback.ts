import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface CallbackRequest {
  headers: IncomingHttpHeaders;
  body: string;
  args: Record<string, unknown>;
}

/** An app that carries out custom tools: `answer` gets each request and writes the reply. */
export async function startCallback(
  answer: (request: CallbackRequest, response: ServerResponse) => void,
): Promise<{ url: string; requests: CallbackRequest[]; server: Server; close(): void }> {
  const requests: CallbackRequest[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += part;
    const seen = { headers: request.headers, body, args: JSON.parse(body) };
    requests.push(seen);
    answer(seen, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url, requests, server, close };
}
