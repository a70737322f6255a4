import { AppError } from '@mcpbridge/shared/errors.js';
import type { Command } from './command.js';

/** With the trials of the mechanisms, which the first command waits for. */
const START_MS = 30_000;

/** Rejects with CALL_TIMEOUT when it does not start; should it start later, it is ended. */
export async function startInTime(starting: Promise<Command>): Promise<Command> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      starting.then((command) => command.end('cancelled')).catch(() => undefined);
      reject(
        new AppError(
          'CALL_TIMEOUT',
          `The command had not started after ${START_MS / 1000} s and was given up; the workspace may be too busy.`,
        ),
      );
    }, START_MS);
  });
  try {
    return await Promise.race([starting, late]);
  } finally {
    clearTimeout(timer);
  }
}
