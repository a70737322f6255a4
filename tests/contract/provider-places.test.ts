import { afterEach, expect, test } from '@jest/globals';
import { ProcessPlaces } from '@mcpbridge/orchestrator/providers/mcp/pool/process-places.js';
import { AppError } from '@mcpbridge/shared/errors.js';
import { verifies } from '../requirements.js';
import { eventually, isAlive } from '../support/processes.js';
import { callTool, TestCaller, textOf, Upstreams } from '../support/upstreams.js';

const upstreams = new Upstreams();
afterEach(() => upstreams.close());

const [a, b, c] = [new TestCaller('a'), new TestCaller('b'), new TestCaller('c')];

test('at the cap over all servers the connection that is idle longest makes room, whosever it is', async () => {
  const places = new ProcessPlaces(2);
  const [one, two] = [upstreams.features({}, { places }), upstreams.features({}, { places })];
  const first = Number(await textOf(one, a, 'pid'));
  const second = Number(await textOf(two, b, 'pid'));
  await textOf(one, a, 'echo');
  await textOf(one, c, 'echo');
  expect([first, second].map(isAlive)).toEqual([true, false]);
});

test('with all processes in use a call waits for one to end', async () => {
  const [places, trace] = [new ProcessPlaces(1), await upstreams.trace()];
  const [one, two] = [
    upstreams.features({ TRACE_FILE: trace.file }, { places }),
    upstreams.features({}, { places }),
  ];
  const controller = new AbortController();
  const busy = callTool(one, a, 'hang', { signal: controller.signal }).catch((error) => error);
  await trace.line(/^started hang/);
  const waiting = textOf(two, b, 'echo', { text: 'at last' });
  controller.abort();
  expect(await busy).toMatchObject({ code: 'CALL_CANCELLED' });
  expect(await waiting).toBe('at last');
});

test('one that waits longer than a start may take is told the number and the setting, and the server is not to blame', async () => {
  const [places, trace] = [new ProcessPlaces(1), await upstreams.trace()];
  const [one, two] = [
    upstreams.features({ TRACE_FILE: trace.file }, { places }),
    upstreams.features({}, { places, startTimeoutMs: 300 }),
  ];
  const controller = new AbortController();
  const busy = callTool(one, a, 'hang', { signal: controller.signal }).catch(() => {});
  await trace.line(/^started hang/);
  await expect(textOf(two, b, 'echo')).rejects.toMatchObject({
    code: 'TOO_MANY_PROCESSES',
    retryable: true,
    message:
      'Server "features" could not be started within 0.3 s: all 1 processes that may run at once ' +
      '(MAX_UPSTREAM_PROCESSES) are in use; try again when a call has ended.',
  });
  expect(two.health.state).not.toBe('failed');
  controller.abort();
  await busy;
});

verifies('upstreams.no-room', async () => {
  const [places, trace] = [new ProcessPlaces(1), await upstreams.trace()];
  const [one, two] = [
    upstreams.features({ TRACE_FILE: trace.file }, { places }),
    upstreams.features({ TRACE_FILE: trace.file }, { places }),
  ];
  const [busy, late] = [new AbortController(), new AbortController()];
  const running = callTool(one, a, 'hang', { signal: busy.signal }).catch(() => {});
  await trace.line(/^started hang/);
  const waiting = callTool(two, b, 'echo', { signal: late.signal });
  const reason = new AppError('CALL_TIMEOUT', 'It gave no answer in time.');
  late.abort(reason);
  await expect(waiting).rejects.toMatchObject({
    code: 'TOO_MANY_PROCESSES',
    cause: reason,
    message: expect.stringMatching(/within the time that the call may take: all 1 processes/),
  });
  // Whoever comes next waits anew, and what was given up is not started.
  const next = textOf(two, c, 'echo', { text: 'next' });
  busy.abort();
  await running;
  expect(await next).toBe('next');
  expect(trace.pids()).toHaveLength(2);
});

test('a place comes back from every process, however it ended', async () => {
  const places = new ProcessPlaces(1);
  const features = upstreams.features({}, { places });
  const failing = upstreams.features({ FAIL_START: '1' }, { places });
  const missing = upstreams.provider(
    {
      id: 'missing',
      transport: { kind: 'stdio', command: 'no-such-command', args: [], env: {} },
      isolation: 'session',
    },
    { places },
  );
  await expect(callTool(features, a, 'crash')).rejects.toMatchObject({ code: 'CONNECTION_LOST' });
  await expect(textOf(failing, a, 'echo')).rejects.toMatchObject({ code: 'PROVIDER_UNAVAILABLE' });
  await expect(textOf(missing, a, 'echo')).rejects.toMatchObject({ code: 'PROVIDER_UNAVAILABLE' });
  const pid = Number(await textOf(features, a, 'pid'));
  await features.endSession('a');
  await eventually('it is gone', () => !isAlive(pid));
  expect(await textOf(features, b, 'echo', { text: 'room' })).toBe('room');
});
