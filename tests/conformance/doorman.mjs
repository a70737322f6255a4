import { once } from 'node:events';
import { createServer, request as send } from 'node:http';

/**
 * The suite cannot send a token. This stands before the orchestrator, adds it, and passes all else on as it came:
 * Host and Origin too, which the orchestrator must judge itself, and every chunk of a stream at once.
 */
export async function startDoorman(target, token) {
  const { hostname, port } = new URL(target);
  const server = createServer((request, response) => {
    const { method, url: path, headers } = request;
    const passed = { ...headers, authorization: `Bearer ${token}` };
    const onward = send({ hostname, port, method, path, headers: passed, agent: false }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      response.flushHeaders();
      answer.pipe(response);
      answer.on('error', () => response.destroy());
    });
    onward.on('error', () => response.destroy());
    response.on('close', () => onward.destroy());
    request.pipe(onward);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const stop = async () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://localhost:${server.address().port}`, stop };
}
