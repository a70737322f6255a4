import { once } from 'node:events';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from '@jest/globals';
import { verifies } from '../requirements.js';
import { api, modernHeaders, modernMeta, postMcp } from '../support/api.js';
import { bareServer, type RunningOrchestrator, startOrchestrator } from '../support/orchestrator.js';
import { eventually } from '../support/processes.js';
import { featuresServer } from '../support/road.js';
import { Watcher } from '../support/watcher.js';

/** One for each place that a secret may come from, so that a leak says which. */
const CANARY = {
  config: 'canary-config-4f81b2c7',
  placeholder: 'canary-placeholder-93ab11',
  header: 'canary-header-77c0de',
  argument: 'canary-argument-15aa90',
  shaped: 'ghp_canary0123456789abcdefghijklmnopqrst',
  session: 'mcps_canary0123456789abcdefghijklmnopqrstuvwx',
  result: 'canary-result-5be1aa',
  bearer: 'canary-bearer-token-08ff31',
  vault: 'the canary of the vault',
  policy: 'canary-of-a-policy',
  environment: 'canary-of-the-environment',
};

let running: RunningOrchestrator;
/** Repeats in its refusal the key that it got. */
const repeats = createServer(({ headers }, response) => {
  response.writeHead(500, { 'content-type': 'text/plain' }).end(`no good: ${headers['x-of-ours']}`);
});
beforeAll(async () => {
  repeats.listen(0, '127.0.0.1');
  await once(repeats, 'listening');
  const refusing = `http://127.0.0.1:${(repeats.address() as AddressInfo).port}`;
  running = await startOrchestrator({
    servers: {
      bare: { ...bareServer, env: { API_KEY: CANARY.config, SERVICE_TOKEN: `$${'{HIDDEN_VALUE}'}` } },
      features: featuresServer({ PLAIN: `$${'{secret:VAULT}'}` }),
      refusing: { url: `${refusing}/mcp`, headers: { 'X-Of-Ours': `$${'{secret:VAULT}'}` } },
      dying: {
        command: process.execPath,
        args: [
          '-e',
          'console.error("my keys are", process.env.API_KEY, process.env.PLAIN); process.exitCode = 3',
        ],
        env: { API_KEY: CANARY.config, PLAIN: `$${'{secret:VAULT}'}` },
      },
      remote: { url: 'http://127.0.0.1:9/mcp', headers: { Authorization: `Bearer ${CANARY.header}` } },
    },
    env: { HIDDEN_VALUE: CANARY.placeholder, LOG_LEVEL: 'debug', VISION_KEY: CANARY.environment },
  });
});
afterAll(async () => {
  await running.stop();
  repeats.close();
});

verifies('security.canary', async () => {
  await api(running).post('/api/secrets').send({ name: 'VAULT', value: CANARY.vault });
  const env = { SECRET_OF_SESSION: CANARY.policy };
  await api(running)
    .post('/api/sessions')
    .send({ id: 'canary', env, tools: { approve: ['bare__slow'] } });
  await api(running).post('/api/sessions/canary/recording').send({});
  const watcher = await Watcher.open(running);
  const call = (path: string, args: object) => api(running, 'canary').post(`/tools/mcp/${path}`).send(args);
  // A server that knows its secrets says them: in results, in errors, in what it was asked for.
  await call('bare/echo', {
    text: `the keys are ${CANARY.config} and ${encodeURIComponent(CANARY.placeholder)}`,
    password: CANARY.argument,
  });
  await call('bare/echo', {
    text: `git clone https://me:${CANARY.argument}@host/x with ${CANARY.shaped} in ${CANARY.session}`,
    deep: [{ api_key: CANARY.argument }],
  });
  await call('bare/echo', {
    text: JSON.stringify({ access_token: CANARY.result, note: `Authorization: Bearer ${CANARY.bearer}` }),
  });
  await call('bare/echo', { text: `${'x'.repeat(20_000)} ${CANARY.config} token=${CANARY.result}` });
  await call('features/fail', { text: `failed with password=${CANARY.argument} and ${CANARY.header}` });
  await call(`bare/${CANARY.config}`, {});
  await call('remote/anything', {});
  const replies: string[] = [];
  for (const path of ['dying/anything', 'refusing/anything'])
    replies.push(JSON.stringify((await call(path, {})).body));
  await call('features/echo', { text: `${CANARY.vault}, ${CANARY.policy} and ${CANARY.environment}` });
  const asked = call('bare/slow', { text: CANARY.vault }).then(() => {});
  const params = { name: 'bare__echo', arguments: { secret: CANARY.argument }, _meta: modernMeta };
  await postMcp(running, { id: 1, method: 'tools/call', params }, modernHeaders('tools/call', 'bare__echo'));
  const proposal = await eventually(
    'it waits',
    async () => (await api(running).get('/api/proposals')).body.proposals[0],
  );
  const proposals = JSON.stringify((await api(running).get('/api/proposals')).body);
  await api(running).post(`/api/proposals/${proposal.id}`).send({ accept: true });
  await asked;
  await watcher.sawEnded(12);
  const pages = [
    '/api/calls?counts=tool,code',
    '/api/calls/export',
    '/api/stats',
    '/metrics',
    '/api/mcp-config',
    '/api/mcp-config/status',
    '/api/sessions',
    '/api/sessions/canary',
    '/api/secrets',
    '/api/proposals?state=decided',
    '/api/servers/remote',
    '/api/servers/dying',
    '/api/servers/dying/logs',
    '/api/events?since=1&types=none',
  ];
  const seen: [string, string][] = [
    ['events', JSON.stringify(watcher.events)],
    ['a reply that says why', replies.join()],
    ['proposals', proposals],
  ];
  for (const page of pages.slice(0, -1))
    seen.push([page, await (await fetch(running.url + page, { headers: running.headers() })).text()]);
  for (const { id } of watcher.ended)
    for (const tail of ['', '/result'])
      seen.push([
        `call${tail}`,
        await (await fetch(`${running.url}/api/calls/${id}${tail}`, { headers: running.headers() })).text(),
      ]);
  const notes = watcher.ended.map(({ args }) => args).join();
  await running.stop(true);
  seen.push(['output', running.output()]);
  for (const file of filesIn(running.home))
    if (!file.includes('mcp_servers')) seen.push([file, readFileSync(file, 'latin1')]);
  const leaks = seen.flatMap(([where, text]) =>
    Object.entries(CANARY).flatMap(([which, secret]) =>
      text.includes(secret) ? [`${which} in ${where}`] : [],
    ),
  );
  expect(leaks).toEqual([]);
  // What is no secret is still there.
  expect(replies.join()).toContain('my keys are [redacted] [redacted]');
  expect(replies.join()).toContain('no good: [redacted]');
  expect(proposals).toContain('[redacted]');
  expect(notes).toContain('the keys are [redacted] and [redacted]');
});

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile());
}
