import { messageOf } from '@mcpbridge/shared/errors.js';
import type { Log } from '../../../log.js';
import { addressText } from './address.js';
import type { Engine } from './engine.js';
import { isGone } from './failure.js';
import { isLeftover, LABELS, ownerId } from './owner.js';

const swept = new Set<string>();

/**
 * Removes what an earlier orchestrator of this home left because its guard was killed with it; once for each engine.
 * Goes on in the background: no server waits for it.
 */
export function removeLeftovers(engine: Engine, home: string, log: Log): void {
  const key = `${addressText(engine.address)} ${home}`;
  if (swept.has(key)) return;
  swept.add(key);
  sweep(engine, home, log).catch((error) => {
    // The engine is not there, which the server that needs it reports; the next one tries again.
    swept.delete(key);
    log.debug(`Containers that were left over could not be looked for: ${messageOf(error)}`);
  });
}

async function sweep(engine: Engine, home: string, log: Log): Promise<void> {
  const ours = await engine.labelled(`${LABELS.owner}=${ownerId(home)}`);
  const leftovers = ours.filter(({ labels }) => isLeftover(labels));
  for (const { id, labels } of leftovers) {
    await engine.remove(id).catch((error) => {
      if (!isGone(error)) throw error;
    });
    log.info(`A container of server "${labels[LABELS.server]}" that was left over is removed.`);
  }
}
