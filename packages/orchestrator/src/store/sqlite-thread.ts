import { parentPort, workerData } from 'node:worker_threads';
import { messageOf } from '@mcpbridge/shared/errors.js';
import { openSqlite } from './sqlite.js';

/** What the main thread asks; `sql` absent: close the file and end. */
export interface ThreadQuestion {
  id: number;
  sql?: string;
  parameters: readonly unknown[];
}

/** One for each question, in their order. */
export interface ThreadAnswer {
  id: number;
  rows: unknown[];
  changes: number | bigint;
  error?: string;
}

const database = await openSqlite(workerData);

parentPort?.on('message', ({ id, sql, parameters }: ThreadQuestion) => {
  let answer: ThreadAnswer = { id, rows: [], changes: 0 };
  try {
    if (sql === undefined) database.close();
    else answer = { id, ...database.run(sql, parameters) };
  } catch (error) {
    answer.error = messageOf(error);
  }
  parentPort?.postMessage(answer);
  if (sql === undefined) parentPort?.close();
});
