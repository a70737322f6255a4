// Loaded into the orchestrator before its own code: counts the timers that are set, and at SIGUSR2 writes what the
// process holds to PROBE_FILE, with PROBE_GC after a garbage collection.
import { renameSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isMainThread } from 'node:worker_threads';

const timers = new Set();

function counted(set, isOnce) {
  const wrapped = (run, ms, ...args) => {
    const timer = set(
      (...given) => {
        if (isOnce) timers.delete(timer);
        return run(...given);
      },
      ms,
      ...args,
    );
    timers.add(timer);
    return timer;
  };
  Object.defineProperty(wrapped, promisify.custom, { value: set[promisify.custom] });
  return wrapped;
}

function cleared(clear) {
  return (timer) => {
    timers.delete(timer);
    clear(timer);
  };
}

if (isMainThread) {
  globalThis.setTimeout = counted(setTimeout, true);
  globalThis.setInterval = counted(setInterval, false);
  globalThis.clearTimeout = cleared(clearTimeout);
  globalThis.clearInterval = cleared(clearInterval);
  const { PROBE_FILE: file, PROBE_GC } = process.env;
  if (PROBE_GC) setFlagsFromString('--expose-gc');
  const collect = PROBE_GC ? runInNewContext('gc') : undefined;
  process.on('SIGUSR2', () => {
    collect?.();
    writeFileSync(`${file}.part`, JSON.stringify({ timers: timers.size, memory: process.memoryUsage() }));
    renameSync(`${file}.part`, file);
  });
}
