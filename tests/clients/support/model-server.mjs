import { once } from 'node:events';
import { createServer } from 'node:http';

/**
 * @typedef {{ say: string }} Say A text of the model.
 * @typedef {{ use: string, input: object, namespace?: string }} Use A tool that the model calls.
 * @typedef {(Say | Use)[]} Steps
 * @typedef {Steps | ((lastResult: string) => Steps)} Turn What the model answers, given the text of the newest result.
 */

/**
 * A local stand-in for a model's API, on a free port: `answer` gets the body of each POST to `path`. What else the
 * client asks for (lists of models, telemetry, token counts) is answered harmlessly.
 * @param {RegExp} path
 * @param {(response: import('node:http').ServerResponse, body: object) => void} answer
 * @param {Record<string, object>} harmless Answers to certain other paths; the rest get `{}`.
 */
export async function startModelServer(path, answer, harmless = {}) {
  const server = createServer(async (request, response) => {
    const body = await readJson(request);
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    if (request.method === 'POST' && path.test(pathname)) answer(response, body);
    else sendJson(response, harmless[pathname] ?? {});
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

export function sendJson(response, body) {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

export function openEvents(response) {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
}

/** One server-sent event; Anthropic and OpenAI say its type twice. */
export function sendEvent(response, type, data) {
  response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
}

async function readJson(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    // Telemetry may be anything; only what goes to the model is looked into.
    return {};
  }
}
