import { once } from 'node:events';
import { readFile, stat } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from '@jest/globals';
import { verifies } from '../requirements.js';
import { type OrchestratedWorkspace, PLACES } from '../support/workspaces.js';

const MIB = 1024 * 1024;
const SIZE = 2048 * MIB;
/** What streams may hold at once, all buffers on the way together; the file itself is ten times that. */
const HELD = 200 * MIB;

let place: OrchestratedWorkspace;
beforeAll(async () => {
  place = await (PLACES[0] as (typeof PLACES)[0])[1]();
});
afterAll(() => place.stop());

/** The most memory that the process ever had, in bytes. */
async function peak(): Promise<number> {
  const status = await readFile(`/proc/${place.running.process.pid}/status`, 'utf8');
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
}

verifies(
  'workspace.large',
  async () => {
    const before = await peak();
    const { port } = place.running;
    const headers = place.running.headers('large');
    const head = '--x\r\ncontent-disposition: form-data; name="file"; filename="large.bin"\r\n\r\n';
    const tail = '\r\n--x--\r\n';
    const upload = request({
      host: '127.0.0.1',
      port,
      method: 'POST',
      path: '/api/upload',
      headers: {
        ...headers,
        'content-type': 'multipart/form-data; boundary=x',
        'content-length': head.length + SIZE + tail.length,
      },
    });
    upload.write(head);
    const chunk = Buffer.alloc(MIB, 'x');
    for (let sent = 0; sent < SIZE; sent += MIB) {
      chunk.writeUInt32BE(sent / MIB);
      if (!upload.write(Buffer.from(chunk))) await once(upload, 'drain');
    }
    upload.end(tail);
    const [answer] = await once(upload, 'response');
    expect(answer.statusCode).toBe(201);
    answer.resume();
    expect((await stat(join(place.folder, 'sessions/large/large.bin'))).size).toBe(SIZE);

    const url = `${place.running.url}/api/documents/large.bin/raw`;
    const last = await fetch(url, {
      headers: { ...headers, range: `bytes=${SIZE - MIB}-${SIZE - MIB + 3}` },
    });
    expect(Buffer.from(await last.arrayBuffer()).readUInt32BE()).toBe(SIZE / MIB - 1);
    const half = await fetch(url, { headers: { ...headers, range: `bytes=${SIZE / 2}-` } });
    let received = 0;
    for await (const part of half.body ?? []) received += part.length;
    expect([half.status, received]).toEqual([206, SIZE / 2]);
    expect((await peak()) - before).toBeLessThan(HELD);
  },
  120_000,
);
