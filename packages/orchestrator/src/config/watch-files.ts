import { type FSWatcher, type StatsListener, unwatchFile, watch, watchFile } from 'node:fs';
import { basename, dirname } from 'node:path';

/** Editors write in several steps; the last one counts. */
const SETTLE_MS = 50;
const LOOK_EVERY_MS = 1000;

/**
 * Calls `changed` soon after one of the files of one folder was written, replaced, made or removed, and now and then
 * for nothing. The folder is watched, which is quick and sees files that are replaced by renaming; the files are also
 * looked at once a second, for folders that come later, symbolic links and mounts that report nothing.
 */
export function watchFiles(files: readonly [string, ...string[]], changed: () => void): () => void {
  const names = new Set(files.map((file) => basename(file)));
  let timer: NodeJS.Timeout | undefined;
  const soon = () => {
    clearTimeout(timer);
    timer = setTimeout(changed, SETTLE_MS).unref();
  };
  const folder = watchFolder(dirname(files[0]), (name) => (name === null || names.has(name)) && soon());
  const looked: StatsListener = () => soon();
  for (const file of files) watchFile(file, { interval: LOOK_EVERY_MS, persistent: false }, looked);
  return () => {
    clearTimeout(timer);
    folder?.close();
    for (const file of files) unwatchFile(file, looked);
  };
}

function watchFolder(folder: string, onEvent: (name: string | null) => void): FSWatcher | undefined {
  try {
    const watcher = watch(folder, { persistent: false }, (_, name) => onEvent(name));
    // The folder went away, or the system has no watches left: the looks once a second go on.
    watcher.on('error', () => watcher.close());
    return watcher;
  } catch {
    // The folder is not there yet: the looks once a second will see the files.
    return undefined;
  }
}
