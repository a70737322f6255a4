import { Executor } from './executor.js';

let open: Promise<Executor> | undefined;
let sessions = 0;

/** The one executor of this process: opened for the first session, at one address until the last has left. */
export async function enterExecutor(): Promise<Executor> {
  sessions++;
  open ??= opened();
  try {
    return await open;
  } catch (error) {
    open = undefined;
    sessions--;
    throw error;
  }
}

export async function leaveExecutor(executor: Executor): Promise<void> {
  sessions--;
  if (sessions > 0) return;
  open = undefined;
  await executor.close();
}

async function opened(): Promise<Executor> {
  const executor = new Executor();
  await executor.open();
  return executor;
}
