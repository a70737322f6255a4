import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { verifies } from '../requirements.js';
import { api, postMcp } from '../support/api.js';
import { bareServer, type RunningOrchestrator, startOrchestrator } from '../support/orchestrator.js';
import { eventually, fixture } from '../support/processes.js';
import { startBridge } from '../support/spawned-bridge.js';

interface Span {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  attributes: { key: string; value: { stringValue?: string } }[];
  status: { code?: number; message?: string };
}

const TRACE = 'aaaabbbbccccddddeeeeffff00001111';
const CALLER = '1234567890abcdef';
const traceparent = `00-${TRACE}-${CALLER}-01`;
const SERVER = 2;
const CLIENT = 3;

/** What an OTLP receiver got, by content type. */
const received: { type: string; body: Buffer }[] = [];
let receiver: Server;
let running: RunningOrchestrator;
let env: Record<string, string>;
beforeAll(async () => {
  receiver = createServer(async (request, response) => {
    received.push({ type: request.headers['content-type'] ?? '', body: await buffer(request) });
    response.setHeader('content-type', 'application/json').end('{}');
  });
  await new Promise<void>((done) => receiver.listen(0, '127.0.0.1', done));
  env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`,
    OTEL_BSP_SCHEDULE_DELAY: '50',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
  };
  const trace = { command: process.execPath, args: [fixture('trace-server.mjs')] };
  running = await startOrchestrator({
    servers: { bare: bareServer, trace },
    env: { ...env, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' },
  });
});
afterAll(async () => {
  await running.stop();
  receiver.close();
});

const spans = (): Span[] =>
  received
    .filter(({ type }) => type === 'application/json')
    .flatMap(({ body }) => JSON.parse(body.toString()).resourceSpans)
    .flatMap(({ scopeSpans }) => scopeSpans)
    .flatMap(({ spans: some }) => some);
const attribute = (span: Span | undefined, key: string) =>
  span?.attributes.find((one) => one.key === key)?.value.stringValue;
/** Our two spans of the call that an upstream heard of under this traceparent. */
const spansAround = async (heard: string) => {
  const [, traceId, spanId] = heard.split('-');
  const inner = await eventually('the span of the upstream came', () =>
    spans().find((span) => span.spanId === spanId),
  );
  const outer = await eventually('the span of the call came', () =>
    spans().find((span) => span.spanId === inner.parentSpanId),
  );
  expect([inner.traceId, outer.traceId]).toEqual([traceId, traceId]);
  expect([inner.kind, outer.kind]).toEqual([CLIENT, SERVER]);
  return { inner, outer };
};

verifies('traces.joined', async () => {
  const settings = { MCP_API_URL: running.url, MCP_API_TOKEN: running.token };
  const listed = startBridge({
    ...settings,
    MCP_TOOLS: JSON.stringify([{ name: 'meta', server: 'trace', type: 'mcp', input_schema: {} }]),
  });
  await listed.initialize();
  const transparent = startBridge(settings);
  await transparent.initialize();
  const inherited = startBridge({ ...settings, TRACEPARENT: traceparent });
  await inherited.initialize();
  const heardBy = async (answer: Promise<{ result?: { content: { text: string }[] } }>) =>
    JSON.parse((await answer).result?.content[0]?.text ?? '{}').traceparent;
  const roads = {
    listed: heardBy(listed.callTool('meta', {}, { traceparent })),
    transparent: heardBy(transparent.callTool('trace__meta', {}, { traceparent })),
    'by the environment': heardBy(inherited.callTool('trace__meta', {})),
    rest: api(running)
      .post('/tools/mcp/trace/meta')
      .set({ traceparent })
      .send({})
      .then(({ body }) => JSON.parse(body.result).traceparent),
  };
  for (const [road, answer] of Object.entries(roads)) {
    const { inner, outer } = await spansAround(await answer);
    expect([road, outer.traceId, outer.parentSpanId, outer.name]).toEqual([
      road,
      TRACE,
      CALLER,
      'tools/call meta',
    ]);
    expect(attribute(inner, 'gen_ai.operation.name')).toBe('execute_tool');
    expect(attribute(inner, 'gen_ai.tool.name')).toBe('meta');
    expect(attribute(inner, 'mcp.method.name')).toBe('tools/call');
    expect(attribute(inner, 'mcpbridge.server')).toBe('trace');
    expect(attribute(outer, 'mcp.session.id')).toBeDefined();
  }
});

test('a call without a trace begins one; one that fails says its code and no secret', async () => {
  const heard = JSON.parse(
    (await api(running).post('/tools/mcp/trace/meta').send({})).body.result,
  ).traceparent;
  const { outer } = await spansAround(heard);
  expect(outer.parentSpanId ?? '').toBe('');
  await api(running)
    .post('/tools/mcp/bare/none-password=canary-in-a-trace')
    .send({ text: 'canary-in-a-trace' });
  const refused = await eventually('the refused call is there', () =>
    spans().find((span) => attribute(span, 'error.type') === 'UNKNOWN_TOOL'),
  );
  expect(refused.status.code).toBe(2);
  expect(received.map(({ body }) => body.toString()).join()).not.toContain('canary-in-a-trace');
  const [first] = received.map(({ body }) => body.toString());
  expect(first).toContain('mcpbridge-orchestrator');
  expect(first).toContain('deployment.environment.name');
});

test('the usual protocol is protobuf, and without OTEL_ variables nothing is sent', async () => {
  const before = received.length;
  const binary = await startOrchestrator({ env });
  await api(binary).post('/tools/mcp/bare/echo').set({ traceparent }).send({ text: 'x' });
  await binary.stop();
  const sent = received.slice(before).filter(({ type }) => type === 'application/x-protobuf');
  expect(sent.some(({ body }) => body.includes(Buffer.from(TRACE, 'hex')))).toBe(true);
  const count = received.length;
  const silent = await startOrchestrator();
  const { body } = await api(silent).post('/tools/mcp/bare/echo').set({ traceparent }).send({ text: 'x' });
  expect(body.result).toBe('x');
  await silent.stop();
  expect(received.length).toBe(count);
});

test('without traces of our own, those of a client reach the upstream as they are', async () => {
  const plain = await startOrchestrator({
    servers: { trace: { command: process.execPath, args: [fixture('trace-server.mjs')] } },
  });
  const { body } = await api(plain)
    .post('/tools/mcp/trace/meta')
    .set({ traceparent, tracestate: 'a=b' })
    .send({});
  expect(JSON.parse(body.result)).toEqual({ traceparent, tracestate: 'a=b' });
  const call = { id: 1, method: 'tools/call', params: { name: 'trace__meta', arguments: {} } };
  const session = await postMcp(plain, {
    id: 0,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } },
  });
  const { messages } = await postMcp(plain, call, {
    traceparent,
    'mcp-session-id': session.headers.get('mcp-session-id') ?? '',
  });
  expect(JSON.stringify(messages)).toContain(TRACE);
  await plain.stop();
});
