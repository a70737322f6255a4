import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { verifies } from '../requirements.js';
import { postMcp } from '../support/api.js';
import { type RunningOrchestrator, startOrchestrator } from '../support/orchestrator.js';
import { eventually, isAlive } from '../support/processes.js';
import { featuresServer } from '../support/road.js';
import { Trace } from '../support/trace.js';

let running: RunningOrchestrator;
let trace: Trace;
const servers = () => ({
  one: featuresServer({ TRACE_FILE: trace.file }),
  two: featuresServer(),
});
beforeAll(async () => {
  trace = await Trace.make();
  running = await startOrchestrator({ servers: servers() });
});
afterAll(() => running.stop());

interface Route {
  security?: unknown;
  'x-session-token'?: true;
}

/** Any request as the owner, or with another token. */
async function send(method: string, path: string, body?: unknown, token = running.token, headers = {}) {
  const response = await fetch(running.url + path, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: JSON.parse(await response.text()) };
}

interface Opened {
  id: string;
  token: string;
  expiresAt: string;
  policy: { env?: object };
}

const open = async (policy: object, token?: string) =>
  (await send('POST', '/api/sessions', policy, token)).body as Opened;

const namesFor = async (token: string) =>
  (await send('GET', '/api/tools', undefined, token)).body.tools.map((tool: { name: string }) => tool.name);

const call = (token: string, name: string, args: object = {}) =>
  send('POST', '/api/mcp/execute', { tool_name: name, arguments: args }, token);

describe('what a session may use', () => {
  verifies('sessions.one-predicate', async () => {
    const { token } = await open({ tools: { allow: ['one__*', 'get_api_spec'], deny: ['one__crash*'] } });
    const names = await namesFor(token);
    expect(names).toContain('one__echo');
    expect(names.filter((name: string) => !name.startsWith('one__'))).toEqual(['get_api_spec']);
    expect(names).not.toContain('one__crash');

    const client = await postMcp(
      running,
      { id: 0, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {} } },
      { authorization: `Bearer ${token}` },
    );
    const session = {
      authorization: `Bearer ${token}`,
      'mcp-session-id': client.headers.get('mcp-session-id') ?? '',
    };
    const listed = await postMcp(running, { id: 1, method: 'tools/list' }, session);
    const tools = names.map((name: string) => expect.objectContaining({ name }));
    expect(listed.messages[0]).toMatchObject({ result: { tools } });

    const spec = await call(token, 'get_api_spec', { tool_name: 'one__echo' });
    expect(spec.body.result).toContain('one/echo');
    // As its call would be answered.
    const other = await call(token, 'get_api_spec', { tool_name: 'two__echo' });
    expect(other.body.error.code).toBe('TOOL_NOT_ALLOWED');

    for (const refused of ['one__crash', 'two__echo']) {
      const { status, body } = await call(token, refused);
      expect([status, body.error]).toEqual([
        403,
        expect.objectContaining({
          code: 'TOOL_NOT_ALLOWED',
          message: `This session may not use "${refused}".`,
        }),
      ]);
    }
    expect((await call(token, 'one__echo', { text: 'yes' })).body.result).toBe('yes');
    expect((await call(token, 'one__ecco')).body.error.code).toBe('UNKNOWN_TOOL');
  });

  test('patterns may ask for annotations, and for the server and its own name', async () => {
    const reading = await open({ tools: { allow: ['one/*@readOnlyHint'] } });
    expect(await namesFor(reading.token)).toEqual(['one__crash_once', 'one__echo', 'one__hang_readonly']);
    const harmless = await open({ tools: { allow: ['two__*'], deny: ['@destructiveHint'] } });
    expect(await namesFor(harmless.token)).toEqual(['two__crash_once', 'two__echo', 'two__hang_readonly']);
  });

  test('where none of its tools may be used, a server’s prompts and resources are not there either', async () => {
    const { token } = await open({ tools: { allow: ['two__echo'] } });
    const auth = { authorization: `Bearer ${token}` };
    const client = await postMcp(
      running,
      { id: 0, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {} } },
      auth,
    );
    const session = { ...auth, 'mcp-session-id': client.headers.get('mcp-session-id') ?? '' };
    const prompts = await postMcp(running, { id: 1, method: 'prompts/list' }, session);
    expect(prompts.messages[0]).toMatchObject({ result: { prompts: [{ name: 'two__greet' }] } });
    const refused = await postMcp(
      running,
      { id: 2, method: 'prompts/get', params: { name: 'one__greet' } },
      session,
    );
    expect(refused.messages[0]).toMatchObject({ error: { code: -32602 } });
    const alone = await postMcp(
      running,
      { id: 0, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {} } },
      auth,
      '/mcp/one',
    );
    expect(alone.messages[0]).toMatchObject({ error: { data: { code: 'TOOL_NOT_ALLOWED' } } });
  });

  verifies('sessions.child', async () => {
    const parent = await open({ tools: { allow: ['one__*'], deny: ['one__crash'] } });
    const child = await open({ tools: { allow: ['one__echo', 'one__crash', 'two__echo'] } }, parent.token);
    expect(await namesFor(child.token)).toEqual(['one__echo']);
    expect((await send('GET', `/api/sessions/${child.id}`)).body.parent).toBe(parent.id);

    await send('PATCH', `/api/sessions/${parent.id}`, { tools: { allow: ['two__*'] } });
    expect(await namesFor(child.token)).toEqual(['two__echo']);
    await send('DELETE', `/api/sessions/${parent.id}`);
    expect((await call(child.token, 'two__echo')).status).toBe(401);
  });

  test('a child has the limits of those above it, ends when they do, and stands at most seven under the topmost', async () => {
    const parent = await open({ ttl: '1h', limits: { timeoutMs: 50 } });
    const child = await open({ ttl: '2h', limits: { timeoutMs: 60_000 } }, parent.token);
    expect(Date.parse(child.expiresAt)).toBeLessThanOrEqual(Date.parse(parent.expiresAt));
    expect((await call(child.token, 'one__hang')).body.error.code).toBe('CALL_TIMEOUT');
    let lowest = child;
    for (let depth = 2; depth < 8; depth++) lowest = await open({}, lowest.token);
    const deeper = await send('POST', '/api/sessions', {}, lowest.token);
    expect([deeper.status, deeper.body.error.message]).toEqual([400, expect.stringContaining('8 deep')]);
  });

  test('a parent that does not exist is no parent, and is not made', async () => {
    const { status, body } = await send('POST', '/api/sessions', { parent: 'a-typo' });
    expect([status, body.error.code]).toEqual([404, 'SESSION_NOT_FOUND']);
    expect((await send('GET', '/api/sessions/a-typo')).status).toBe(404);
  });

  test('what its environment holds is told to nobody', async () => {
    const { id, policy } = await open({ env: { KEY: 'a secret of the session' } });
    const { body } = await send('GET', `/api/sessions/${id}`);
    expect([policy.env, body.policy.env]).toEqual([{ KEY: '********' }, { KEY: '********' }]);
  });

  test('a policy that cannot be read is refused with the place of each fault', async () => {
    const { status, body } = await send('POST', '/api/sessions', {
      tools: { allow: ['a b'], dney: [] },
      limits: { concurrent: 0 },
    });
    expect(status).toBe(400);
    expect(body.error.message).toContain('/tools/allow/0');
    expect(body.error.message).toContain('unknown property "dney"');
    expect(body.error.message).toContain('/limits/concurrent');
  });
});

describe('the token of a session', () => {
  verifies('sessions.token', async () => {
    const mine = await open({});
    const other = await open({});
    const missing = await send('GET', '/api/tools', undefined, mine.token, { 'x-session-id': 'nobody' });
    const strange = await send('GET', '/api/tools', undefined, mine.token, { 'x-session-id': other.id });
    expect(strange.status).toBe(404);
    expect(JSON.stringify(strange.body).replaceAll(other.id, 'nobody')).toBe(JSON.stringify(missing.body));
    for (const path of [`/s/${other.id}/tools/mcp/one/echo`, `/api/s/${other.id}/tools/mcp/one/echo`])
      expect((await send('POST', path, {}, mine.token)).body.error.code).toBe('SESSION_NOT_FOUND');
    const body = { tool_name: 'one__echo', session_id: other.id };
    expect((await send('POST', '/api/mcp/execute', body, mine.token)).body.error.code).toBe(
      'SESSION_NOT_FOUND',
    );
    expect((await send('DELETE', `/api/sessions/${other.id}`, undefined, mine.token)).status).toBe(404);

    await send('DELETE', `/api/sessions/${mine.id}/tokens`);
    expect((await call(mine.token, 'one__echo')).status).toBe(401);
    const next = (await send('POST', `/api/sessions/${mine.id}/tokens`, { ttl: '1h' })).body;
    expect(Date.parse(next.expiresAt)).toBeLessThanOrEqual(Date.now() + 3_600_000);
    expect((await call(next.token, 'one__echo', { text: 'again' })).body.result).toBe('again');
  });

  test('it makes sessions under its own alone', async () => {
    const [mine, other] = [await open({}), await open({})];
    const { status, body } = await send('POST', '/api/sessions', { parent: other.id }, mine.token);
    expect([status, body.error.code]).toEqual([404, 'SESSION_NOT_FOUND']);
    const own = await send('POST', '/api/sessions', { parent: mine.id }, mine.token);
    expect(own.status).toBe(201);
  });

  test('its time may be over before that of its session', async () => {
    const { id, token } = await open({});
    const short = (await send('POST', `/api/sessions/${id}/tokens`, { ttl: 50 })).body;
    await eventually('its time is over', () => Date.now() > Date.parse(short.expiresAt));
    expect((await call(short.token, 'one__echo')).status).toBe(401);
    expect((await call(token, 'one__echo')).status).toBe(200);
  });

  test('it may do what is marked for it in the OpenAPI document, and nothing else', async () => {
    const { token } = await open({});
    const { paths } = (await send('GET', '/api/openapi.json')).body;
    let refused = 0;
    for (const [path, methods] of Object.entries<Record<string, Route>>(paths)) {
      for (const [method, route] of Object.entries(methods)) {
        if (route.security || route['x-session-token']) continue;
        const { status, body } = await send(
          method.toUpperCase(),
          path.replaceAll(/\{\w+\}/g, 'x'),
          method === 'get' || method === 'delete' ? undefined : {},
          token,
        );
        expect([path, method, status, body.error.code]).toEqual([path, method, 403, 'FORBIDDEN']);
        refused += 1;
      }
    }
    expect(refused).toBeGreaterThan(10);
  });

  test('a session whose time is over is not there any more, and its connections are closed', async () => {
    const { id, token } = await open({ ttl: 300 });
    const pid = (await call(token, 'one__pid')).body.result;
    expect(Number(pid)).toBeGreaterThan(0);
    await eventually('its process is gone', () => !isAlive(Number(pid)));
    expect((await call(token, 'one__echo')).status).toBe(401);
    expect((await send('GET', `/api/sessions/${id}`)).body.endedAt).toBeDefined();
  });

  test('a session whose time is over is gone for its owner at once, too', async () => {
    const { id, expiresAt } = await open({ ttl: 100 });
    await eventually('its time is over', () => Date.now() > Date.parse(expiresAt));
    const late = await send('POST', `/api/s/${id}/tools/mcp/one/echo`, {});
    expect([late.status, late.body.error.code]).toEqual([404, 'SESSION_NOT_FOUND']);
  });

  test('the end of a session in mid-call cancels the call at the server', async () => {
    const { id, token } = await open({});
    const before = trace.count('cancelled');
    const hanging = call(token, 'one__hang');
    await trace.saw('started hang', trace.count('started hang') + 1);
    await send('DELETE', `/api/sessions/${id}`);
    expect((await hanging).body.error.code).toBe('CALL_CANCELLED');
    await trace.saw('cancelled', before + 1);
  });
});

describe('limits', () => {
  test('calls a minute, calls at once and the time of a call are bounded, and the error says by what', async () => {
    const few = await open({ limits: { callsPerMinute: 2 } });
    for (let made = 0; made < 2; made++) expect((await call(few.token, 'one__echo')).status).toBe(200);
    const third = await call(few.token, 'one__echo');
    expect([third.status, third.body.error]).toMatchObject([
      429,
      { code: 'LIMIT_REACHED', details: { limit: 'callsPerMinute', allowed: 2 } },
    ]);
    const child = await open({}, few.token);
    expect((await call(child.token, 'one__echo')).status).toBe(429);

    const single = await open({ limits: { concurrent: 1, timeoutMs: 60_000 } });
    const started = trace.count('started hang');
    const hanging = call(single.token, 'one__hang');
    await trace.saw('started hang', started + 1);
    expect((await call(single.token, 'one__echo')).body.error.message).toMatch(/1 calls are running/);
    await send('DELETE', `/api/sessions/${single.id}`);
    await hanging;

    const hasty = await open({ limits: { timeoutMs: 50 } });
    expect((await call(hasty.token, 'one__hang')).body.error.code).toBe('CALL_TIMEOUT');
  });

  test('a limit on calls a minute that a session gets later begins with a minute’s worth', async () => {
    const { id, token } = await open({ limits: { concurrent: 5 } });
    for (let times = 0; times < 5; times++) await call(token, 'one__echo');
    await send('PATCH', `/api/sessions/${id}`, { limits: { callsPerMinute: 2 } });
    const answers = [];
    for (let times = 0; times < 3; times++) answers.push((await call(token, 'one__echo')).status);
    expect(answers).toEqual([200, 200, 429]);
  });

  test('of a result over the limit head and tail are kept, in whole characters', async () => {
    const { token } = await open({ limits: { resultBytes: 400 } });
    const text = `HEAD${'🦊'.repeat(1000)}TAIL`;
    const { body } = await call(token, 'one__echo', { text });
    expect(body.result.startsWith('HEAD')).toBe(true);
    expect(body.result).toContain('TAIL');
    expect(body.result).toMatch(/this session takes 400/);
    expect(body.result).not.toContain('\uFFFD');
  });
});

describe('approvals', () => {
  verifies('sessions.approve', async () => {
    const { token } = await open({ tools: { approve: ['one__echo'] } });
    const waiting = call(token, 'one__echo', { text: 'done', password: 'hunter2' });
    const proposal = await nextProposal();
    expect(proposal).toMatchObject({ server: 'one', tool: 'echo', arguments: { text: 'done' } });
    expect(JSON.stringify(proposal)).not.toContain('hunter2');
    expect((await send('POST', `/api/proposals/${proposal.id}`, { accept: true })).status).toBe(200);
    expect((await waiting).body.result).toBe('done');
    expect((await send('POST', `/api/proposals/${proposal.id}`, { accept: false })).status).toBe(404);

    const edited = call(token, 'one__echo', { text: 'long', password: 'hunter2' });
    const shown = await nextProposal();
    expect(shown.arguments).toEqual({ text: 'long', password: '[redacted]' });
    const shorter = { accept: true, arguments: { ...shown.arguments, text: 'short' } };
    await send('POST', `/api/proposals/${shown.id}`, shorter);
    expect((await edited).body.result).toMatch(/^short\n\[A person changed the arguments to .*"hunter2"/);

    const noted = call(token, 'one__echo', { text: 'done' });
    await send('POST', `/api/proposals/${(await nextProposal()).id}`, { accept: true, note: 'last time' });
    expect((await noted).body.result).toBe('done\n[The person who approved this call says: last time]');

    const refused = call(token, 'one__echo');
    await send('POST', `/api/proposals/${(await nextProposal()).id}`, { accept: false, note: 'not today' });
    expect((await refused).body.error).toMatchObject({
      code: 'NOT_APPROVED',
      message: 'A person refused the call of "echo": not today',
    });
    expect((await send('POST', '/api/proposals/x', { accept: true }, token)).status).toBe(403);
  });

  test('a yes for the same arguments holds for these and not one more, in its session alone, and is listed', async () => {
    const { token } = await open({ tools: { approve: ['one__echo'] } });
    const other = await open({ tools: { approve: ['one__echo'] } });
    const first = call(token, 'one__echo', { text: 'same' });
    const { id } = await nextProposal();
    await send('POST', `/api/proposals/${id}`, { accept: true, remember: 'arguments' });
    expect((await first).body.result).toBe('same');
    expect((await call(token, 'one__echo', { text: 'same' })).body.result).toBe('same');
    for (const [bearer, args] of [
      [token, { text: 'same', more: 1 }],
      [other.token, { text: 'same' }],
    ] as const) {
      const asks = call(bearer, 'one__echo', args);
      await send('POST', `/api/proposals/${(await nextProposal()).id}`, { accept: false });
      expect((await asks).body.error.code).toBe('NOT_APPROVED');
    }
    const { proposals } = (await send('GET', '/api/proposals?state=decided')).body;
    expect(proposals.map(({ state, by }: { state: string; by: string }) => [state, by]).slice(0, 3)).toEqual([
      ['rejected', 'owner'],
      ['rejected', 'owner'],
      ['accepted', 'owner'],
    ]);
  });

  test('a yes for the tool holds for it with whatever arguments', async () => {
    const { token } = await open({ tools: { approve: ['one__*'] } });
    const first = call(token, 'one__echo', { text: 'a' });
    await send('POST', `/api/proposals/${(await nextProposal()).id}`, { accept: true, remember: 'tool' });
    await first;
    expect((await call(token, 'one__echo', { text: 'b' })).body.result).toBe('b');
  });

  test('what was decided, and what a yes was saved for, outlive a restart', async () => {
    const { id, token } = await open({ tools: { approve: ['one__echo'] } });
    const first = call(token, 'one__echo', { text: 'lasts' });
    await send('POST', `/api/proposals/${(await nextProposal()).id}`, {
      accept: true,
      remember: 'arguments',
      note: 'seen',
    });
    await first;
    const decided = async (query = '') =>
      (await send('GET', `/api/proposals?state=decided${query}`)).body as {
        proposals: { id: string; note?: string }[];
        next?: number;
      };
    const before = await decided();
    await running.stop(true);
    running = await startOrchestrator({ again: running });
    expect(await decided()).toEqual(before);
    const [latest, second] = before.proposals;
    expect(latest).toMatchObject({ note: 'seen', state: 'accepted', sessionId: id });
    const page = await decided('&limit=1');
    expect(page.proposals).toEqual([latest]);
    expect((await decided(`&limit=1&before=${page.next}`)).proposals).toEqual([second]);
    expect((await send('GET', '/api/proposals?state=rejected')).body.proposals[0]).toMatchObject({
      state: 'rejected',
    });
    expect((await send('GET', '/api/proposals?state=forgotten')).status).toBe(400);
    expect((await call(token, 'one__echo', { text: 'lasts' })).body.result).toBe('lasts');
  });

  test('who edits arguments sends blanks back, and the secrets behind them stay', async () => {
    const { token } = await open({ tools: { approve: ['one__echo'] } });
    const asks = call(token, 'one__echo', { text: 'before', password: 'hunter-2-hunter' });
    const { id, arguments: shown } = await nextProposal();
    expect(shown.password).toBe('[redacted]');
    const wrong = { text: 'after', password: shown.password, other: '[redacted]' };
    const refused = await send('POST', `/api/proposals/${id}`, { accept: true, arguments: wrong });
    expect([refused.status, refused.body.error.message]).toEqual([400, expect.stringContaining('"/other"')]);
    await send('POST', `/api/proposals/${id}`, { accept: true, arguments: { ...shown, text: 'after' } });
    const { result } = (await asks).body;
    expect(result).toContain('after');
    // What was carried out is told to whoever called.
    expect(result).toContain('"password":"hunter-2-hunter"');
  });

  async function nextProposal() {
    for (;;) {
      const { proposals } = (await send('GET', '/api/proposals')).body;
      if (proposals.length > 0) return proposals[0];
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
});
