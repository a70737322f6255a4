// A client to be killed: `client.mjs bridge FILE` starts a bridge, `client.mjs HTTP` speaks to /mcp itself. Prints the ids of
// the processes that shall end with it as one JSON line, then, with MARK, calls a tool that never answers.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

const [how, file] = process.argv.slice(2);
const { MCP_API_URL: url, TOKEN: token, MARK: mark } = process.env;
const hello = {
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'client', version: '1' } },
};
let ids = 0;

function overBridge() {
  const bridge = spawn(process.execPath, [file], { stdio: ['pipe', 'pipe', 'inherit'] });
  const waiting = new Map();
  createInterface({ input: bridge.stdout }).on('line', (line) => {
    const frame = JSON.parse(line);
    waiting.get(frame.id)?.(frame);
  });
  return {
    pids: [bridge.pid],
    send(message) {
      const id = ++ids;
      bridge.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...message })}\n`);
      return new Promise((answered) => waiting.set(id, answered));
    },
  };
}

function overHttp() {
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    // As a bridge says it: the session is to end with this client.
    'x-session-id': `client-${process.pid}-${Date.now()}`,
    'x-session-lifetime': 'connection',
  };
  return {
    pids: [],
    async send(message) {
      const body = JSON.stringify({ jsonrpc: '2.0', id: ++ids, ...message });
      const response = await fetch(`${url}/mcp`, { method: 'POST', headers, body });
      headers['mcp-session-id'] ??= response.headers.get('mcp-session-id');
      const text = await response.text();
      return JSON.parse(
        text.startsWith('{') ? text : text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1),
      );
    },
  };
}

const { pids, send } = how === 'bridge' ? overBridge() : overHttp();
await send(hello);
const call = (name, args = {}) => send({ method: 'tools/call', params: { name, arguments: args } });
const { result } = await call('stdio__pid');
console.log(JSON.stringify([...pids, Number(result.content[0].text)]));
if (mark) call('stdio__hang', { mark });
setInterval(() => {}, 1000);
