// A server over stdio that can be brought into every bad state. Tools: echo {text}, pid, slow {ms}, hang {mark} (writes the
// file when it has begun), deaf (reads nothing any more). IGNORE_SIGTERM: it outlives stdin's end and SIGTERM.
import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const names = ['echo', 'pid', 'slow', 'hang', 'deaf'];
const tools = names.map((name) => ({ name, inputSchema: { type: 'object' } }));
const text = (value) => ({ content: [{ type: 'text', text: value }] });

const run = {
  echo: ({ text: value = '' }) => text(value),
  pid: () => text(String(process.pid)),
  slow: ({ ms = 0 }) => new Promise((done) => setTimeout(done, ms, text('slept'))),
  hang({ mark }) {
    if (mark) writeFileSync(mark, '');
    return new Promise(() => {});
  },
  deaf() {
    lines.pause();
    process.stdin.pause();
    setInterval(() => {}, 1000);
    return text('deaf');
  },
};

const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: { listChanged: true } },
    serverInfo: { name: 'bad', version: '1.0.0' },
  }),
  ping: () => ({}),
  'tools/list': () => ({ tools }),
  'tools/call': ({ name, arguments: args = {} }) => run[name](args),
};

if (process.env.IGNORE_SIGTERM) {
  process.on('SIGTERM', () => {});
  setInterval(() => {}, 1000);
}
const lines = createInterface({ input: process.stdin });
lines.on('line', async (line) => {
  const { id, method, params = {} } = JSON.parse(line);
  if (id === undefined) return;
  const known = answers[method];
  const reply = known
    ? { result: await known(params) }
    : { error: { code: -32601, message: `no method ${method}` } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...reply })}\n`);
});
