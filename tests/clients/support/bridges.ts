import { readdir, readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { bridgeFile } from '../../support/processes.js';

/** The ids of the bridges that are alive and were told of the executor at `apiUrl`; only Linux can say. */
export async function bridgesTo(apiUrl: string): Promise<number[]> {
  const ids = (await readdir('/proc').catch(() => [])).map(Number).filter((id) => id > 0);
  const hits = await Promise.all(ids.map((id) => isBridgeTo(apiUrl, id)));
  return ids.filter((_, index) => hits[index]);
}

async function isBridgeTo(apiUrl: string, id: number): Promise<boolean> {
  try {
    const [command, environment] = await Promise.all([
      readFile(`/proc/${id}/cmdline`, 'utf8'),
      readFile(`/proc/${id}/environ`, 'utf8'),
    ]);
    const [, file = ''] = command.split('\0');
    return resolve(file) === resolve(bridgeFile) && environment.split('\0').includes(`MCP_API_URL=${apiUrl}`);
  } catch {
    // It has ended meanwhile, or is somebody else's.
    return false;
  }
}
