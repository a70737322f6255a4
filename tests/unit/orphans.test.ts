import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { Orphans } from '@mcpbridge/workspace-api/sandbox/orphans.js';
import { underFilter } from '../support/commands.js';
import { ended } from '../support/processes.js';

test('what a command left is ended before its end is told, however many others start meanwhile', async () => {
  const [program = '', ...wrapper] = underFilter;
  const left = spawn(program, [...wrapper, '/bin/sh', '-c', 'echo; exec sleep 86382']);
  await once(left.stdout, 'data');
  // This process is no jail's, and reaps its children itself.
  const orphans = new Orphans(() => undefined);
  let isOver = false;
  let last: Promise<unknown> = Promise.resolve();
  // Each has asked to start before the one before it has started.
  const startOneAfterOther = (count: number): Promise<unknown> =>
    orphans.starts(`mark ${count}`, async () => {
      await sleep(1);
      if (!isOver) last = startOneAfterOther(count + 1);
      return { pid: -count };
    });
  last = startOneAfterOther(1);
  await orphans.ended(0, 'the command');
  isOver = true;
  const wasEnded = left.signalCode ?? left.kill('SIGKILL');
  expect(wasEnded).toBe('SIGKILL');
  await ended(left);
  await last;
});
