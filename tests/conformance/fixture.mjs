// A real MCP server, made with the MCP SDK v2, that passes the official conformance suite in both eras.
// node fixture.mjs [--era legacy|modern]: Streamable HTTP at /mcp, port PORT or a free one; prints its address.
// node fixture.mjs --stdio [--era …]: the same over stdio.
import { createServer as createHttpServer } from 'node:http';
import { parseArgs } from 'node:util';
import {
  localhostHostValidation,
  localhostOriginValidation,
  toNodeHandler,
  toWebRequest,
} from '@modelcontextprotocol/node';
import { createMcpHandler, isLegacyRequest } from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { announceChanges } from './fixture/announce.mjs';
import { changes } from './fixture/changes.mjs';
import { handleLegacy } from './fixture/legacy-http.mjs';
import { createServer } from './fixture/server.mjs';

const { values: flags } = parseArgs({ options: { stdio: { type: 'boolean' }, era: { type: 'string' } } });

if (flags.stdio) await overStdio();
else overHttp();

async function overStdio() {
  if (flags.era === 'legacy') {
    const mcp = createServer();
    await mcp.connect(new StdioServerTransport());
    announceChanges(mcp);
    return;
  }
  const factory = () => {
    const mcp = createServer();
    announceChanges(mcp);
    return mcp;
  };
  serveStdio(factory, { legacy: flags.era === 'modern' ? 'reject' : 'serve' });
}

function overHttp() {
  const modern = createMcpHandler(createServer, { legacy: 'reject' });
  const handleModern = toNodeHandler(modern);
  changes.on('change', (list) =>
    list === 'tools' ? modern.notify.toolsChanged() : modern.notify.promptsChanged(),
  );
  const isHostAllowed = localhostHostValidation();
  const isOriginAllowed = localhostOriginValidation();
  const server = createHttpServer(async (request, response) => {
    if (!isHostAllowed(request, response) || !isOriginAllowed(request, response)) return;
    if (new URL(request.url, 'http://localhost').pathname !== '/mcp') return response.writeHead(404).end();
    const body = request.method === 'POST' ? await readJson(request) : undefined;
    if (await isForLegacy(request, body)) return handleLegacy(request, response, body);
    return handleModern(request, response, body);
  });
  server.listen(Number(process.env.PORT ?? 0), '127.0.0.1', () => {
    process.stdout.write(`http://localhost:${server.address().port}/mcp\n`);
  });
}

async function isForLegacy(request, body) {
  if (flags.era) return flags.era === 'legacy';
  return isLegacyRequest(await toWebRequest(request, body));
}

async function readJson(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString('utf8'));
}
