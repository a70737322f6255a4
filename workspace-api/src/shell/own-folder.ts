import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';

/**
 * What belongs to this run of the service alone: files of the sandbox, and each session's temporary folder. Those of
 * runs that were killed are removed by the next on the same machine.
 */
export class OwnFolder {
  private constructor(readonly path: string) {}

  static async open(parent: string): Promise<OwnFolder> {
    await mkdir(parent, { recursive: true, mode: 0o700 });
    const machine = hostname().replaceAll(/[^A-Za-z0-9]/g, '_');
    for (const name of await readdir(parent)) {
      const [whose, pid] = name.split('-');
      if (whose === machine && !isAlive(Number(pid))) await remove(join(parent, name));
    }
    const path = await mkdtemp(join(parent, `${machine}-${process.pid}-`));
    await mkdir(join(path, 'scratch'), { mode: 0o700 });
    return new OwnFolder(path);
  }

  /** Of one session, made when it is missing. */
  async scratch(sessionId: string): Promise<string> {
    const folder = this.scratchOf(sessionId);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return folder;
  }

  endSession(sessionId: string): Promise<void> {
    return remove(this.scratchOf(sessionId));
  }

  close(): Promise<void> {
    return remove(this.path);
  }

  /** Ids have characters that are no file name everywhere. */
  private scratchOf(sessionId: string): string {
    return join(this.path, 'scratch', createHash('sha256').update(sessionId).digest('hex').slice(0, 32));
  }
}

/** A command may have left files that are in the way; the next start of the service finds what stays. */
async function remove(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true }).catch(() => undefined);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
