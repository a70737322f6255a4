import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { installPython } from '../clients/support/install.js';
import { verifies } from '../requirements.js';
import { api } from '../support/api.js';
import { bareServer, type RunningOrchestrator, startOrchestrator } from '../support/orchestrator.js';
import { featuresServer } from '../support/road.js';

let running: RunningOrchestrator;
beforeAll(async () => {
  running = await startOrchestrator({ servers: { bare: bareServer, features: featuresServer({}) } });
});
afterAll(() => running.stop());

const PARSE = `
import json, sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families
samples = [(s.name, s.labels, s.value if s.value == s.value else None) for family in text_string_to_metric_families(sys.stdin.read()) for s in family.samples]
print(json.dumps(samples))
`;

/** The samples as Prometheus' own parser reads them. */
async function scrape(): Promise<[string, Record<string, string>, number][]> {
  const response = await fetch(`${running.url}/metrics`, { headers: running.headers() });
  expect(response.headers.get('content-type')).toBe(
    'application/openmetrics-text; version=1.0.0; charset=utf-8',
  );
  const python = await installPython('prometheus', { 'prometheus-client': '0.23.1' });
  return JSON.parse(execFileSync(python, ['-c', PARSE], { input: await response.text(), encoding: 'utf8' }));
}

verifies(
  'metrics.openmetrics',
  async () => {
    for (let n = 0; n < 3; n += 1) await api(running).post('/tools/mcp/bare/echo').send({ text: 'hello' });
    await api(running).post('/tools/mcp/features/fail').send({ text: 'no' });
    await api(running).get('/api/calls');
    const samples = await scrape();
    const value = (name: string, labels: object = {}) =>
      samples.find(
        ([found, has]) => found === name && Object.entries(labels).every(([key, is]) => has[key] === is),
      )?.[2];
    const echo = { server: 'bare', tool: 'echo' };
    expect(value('mcpbridge_calls_total', { ...echo, outcome: 'ok' })).toBe(3);
    expect(value('mcpbridge_call_errors_total', { server: 'features', code: 'TOOL_FAILED' })).toBe(1);
    expect(value('mcpbridge_call_duration_seconds_count', echo)).toBe(3);
    expect(value('mcpbridge_call_duration_seconds_bucket', { ...echo, le: '+Inf' })).toBe(3);
    expect(value('mcpbridge_call_bytes_total', { server: 'bare', direction: 'out' })).toBe(15);
    expect(value('mcpbridge_upstream_state', { server: 'bare', state: 'ready' })).toBe(1);
    for (const name of ['sessions', 'processes', 'tools'])
      expect(value(`mcpbridge_${name}`)).toBeGreaterThan(0);
    for (const queue of ['calls', 'approvals', 'records', 'processes'])
      expect(value('mcpbridge_queue_length', { queue })).toBe(0);
    expect(value('nodejs_eventloop_lag_p99_seconds')).toBeGreaterThanOrEqual(0);
  },
  120_000,
);

test('names that callers make up become no series, and a session may not scrape', async () => {
  for (let n = 0; n < 50; n += 1) await api(running).post(`/tools/mcp/bare/none-${n}`).send({});
  await api(running).get('/api/calls');
  const text = await (await fetch(`${running.url}/metrics`, { headers: running.headers() })).text();
  expect(text).not.toContain('none-');
  expect(text).toContain('mcpbridge_calls_total{server="_unknown",tool="_unknown",outcome="refused"} 50');
  const { token } = (await api(running).post('/api/sessions').send({})).body;
  expect(
    (await fetch(`${running.url}/metrics`, { headers: { authorization: `Bearer ${token}` } })).status,
  ).toBe(403);
  expect((await fetch(`${running.url}/metrics`)).status).toBe(401);
});
