import { parentPort } from 'node:worker_threads';
import { messageOf } from '@mcpbridge/shared/errors.js';
import { glob, searchAll, searchSome, type Task } from './tasks.js';

parentPort?.on('message', (task: Task) => {
  try {
    parentPort?.postMessage({ result: run(task) });
  } catch (error) {
    parentPort?.postMessage({ error: messageOf(error) });
  }
});

function run(task: Task): unknown {
  if (task.kind === 'glob') return glob(task);
  return task.kind === 'walk' ? searchAll(task) : searchSome(task);
}
