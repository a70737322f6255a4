// The guard's process (guard.ts): removes the containers of an orchestrator that is gone. It has no library, since it
// is there all the time and needs three requests once.
import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { requestOptions } from './address.js';
import type { GuardTask } from './guard.js';

/** A server that ends with its stdin may do so first. */
const GRACE_MS = 1500;
/** A container that was being made may appear a moment later; an engine that restarts is back after a while. */
const AGAIN_MS = 1000;
const LOOKS = 30;

const { address, label }: GuardTask = JSON.parse(process.argv[2] ?? '');
for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) process.on(signal, () => {});
// Our input ends when the orchestrator does, however that comes.
process.stdin.resume().on('close', () => void removeAll());

async function removeAll(): Promise<void> {
  await sleep(GRACE_MS);
  let nothingLeft = 0;
  for (let look = 1; look <= LOOKS; look += 1) {
    nothingLeft = (await removeListed().catch(() => false)) ? nothingLeft + 1 : 0;
    if (nothingLeft === 2) break;
    await sleep(AGAIN_MS);
  }
  process.exit();
}

/** True when there was nothing to remove. */
async function removeListed(): Promise<boolean> {
  const filters = encodeURIComponent(JSON.stringify({ label: [label] }));
  const listed: { Id: string }[] = JSON.parse(await ask('GET', `/containers/json?all=1&filters=${filters}`));
  await Promise.all(listed.map(({ Id }) => ask('DELETE', `/containers/${Id}?force=1&v=1`)));
  return listed.length === 0;
}

function ask(method: string, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request({ ...requestOptions(address), method, path, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part) => {
        text += part;
      });
      response.on('end', () => resolve(text)).on('error', reject);
    });
    sent.on('error', reject).end();
  });
}
