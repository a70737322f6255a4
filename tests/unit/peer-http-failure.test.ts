import { describe, expect, test } from '@jest/globals';
import { explainHttp, rpcErrorIn } from '@mcpbridge/orchestrator/providers/mcp/http/failure.js';

const url = new URL('https://user:password@example.org/mcp?key=secret');
const explain = (thrown: unknown, inSession = false) => explainHttp('x', url, thrown, inSession);
const refused = (status: number, text = '') =>
  Object.assign(new Error('Error POSTing'), { data: { status, text } });
const network = (code: string) =>
  Object.assign(new TypeError('fetch failed'), { cause: Object.assign(new Error('why'), { code }) });

describe('what a refused request means', () => {
  for (const [status, code, retryable] of [
    [401, 'PROVIDER_UNAVAILABLE', false],
    [403, 'PROVIDER_UNAVAILABLE', false],
    [404, 'PROVIDER_ERROR', false],
    [429, 'PROVIDER_UNAVAILABLE', true],
    [500, 'PROVIDER_ERROR', false],
    [502, 'CONNECTION_LOST', false],
    [503, 'PROVIDER_UNAVAILABLE', true],
    [504, 'CONNECTION_LOST', false],
  ] as const) {
    test(`${status} is ${code}, ${retryable ? '' : 'not '}to be tried again`, () => {
      const { error, spent } = explain(refused(status, 'because'));
      expect(error).toMatchObject({ code, retryable, details: { status } });
      expect(error.message).toContain(`Server "x" answered ${status}`);
      expect(spent).toBe(false);
    });
  }

  test('in a session 404, and 400 that speaks of it, mean that the session is lost and nothing was started', () => {
    for (const thrown of [refused(404), refused(400, 'Bad Request: No valid session ID provided')]) {
      expect(explain(thrown, true)).toMatchObject({ spent: true, error: { retryable: true } });
      expect(explain(thrown, false)).toMatchObject({ spent: false });
    }
  });

  test('in a session 400 for another reason, and 404 for an unknown method, do not', () => {
    expect(explain(refused(400, 'bad arguments'), true).spent).toBe(false);
    expect(explain(refused(404, '{"error":{"code":-32601,"message":"no method"}}'), true).spent).toBe(false);
  });

  test('the JSON-RPC error of a refusal is found whole', () => {
    const error = { code: -32022, message: 'no', data: { supported: ['2026-07-28'] } };
    expect(rpcErrorIn(refused(400, JSON.stringify({ jsonrpc: '2.0', id: 1, error })))).toEqual(error);
    for (const text of ['', 'nothing', '{', '{"error":"text"}', '[]']) {
      expect(rpcErrorIn(refused(400, text))).toBeUndefined();
    }
  });
});

describe('what a broken connection means', () => {
  test('one that was never made sent nothing', () => {
    for (const code of ['ECONNREFUSED', 'ENOTFOUND', 'UND_ERR_CONNECT_TIMEOUT', 'CERT_HAS_EXPIRED']) {
      const { error, spent } = explain(network(code));
      expect(error).toMatchObject({ code: 'PROVIDER_UNAVAILABLE', retryable: true });
      expect(error.message).toBe(`Server "x" cannot be reached at https://example.org/mcp (${code}).`);
      expect(spent).toBe(true);
    }
  });

  test('the code is found where only the text has it', () => {
    const { error, spent } = explain(
      new Error('SSE error: TypeError: fetch failed: connect ECONNREFUSED ::1:80'),
    );
    expect(error.message).toBe('Server "x" cannot be reached at https://example.org/mcp (ECONNREFUSED).');
    expect(spent).toBe(true);
  });

  test('one that broke may have sent it', () => {
    for (const code of ['ECONNRESET', 'UND_ERR_SOCKET']) {
      expect(explain(network(code))).toMatchObject({
        spent: false,
        error: { code: 'CONNECTION_LOST', retryable: false },
      });
    }
  });

  test('no key of the address is told', () => {
    for (const thrown of [network('ECONNREFUSED'), refused(404)]) {
      expect(explain(thrown).error.message).not.toMatch(/secret|password/);
    }
  });
});
