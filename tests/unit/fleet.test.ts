import { expect, test } from '@jest/globals';
import { Catalog } from '@mcpbridge/orchestrator/catalog/catalog.js';
import { Fleet } from '@mcpbridge/orchestrator/catalog/fleet.js';
import type { ConfiguredServer } from '@mcpbridge/orchestrator/config/server-entry.js';
import { createLog } from '@mcpbridge/orchestrator/log.js';
import type { McpRelay } from '@mcpbridge/orchestrator/providers/provider.js';

test('whoever brings the servers in line while somebody else does waits until they are there', async () => {
  const catalog = new Catalog();
  let answer = () => {};
  const asked = new Promise<undefined>((resolve) => (answer = () => resolve(undefined)));
  const fleet = new Fleet({
    catalog,
    lists: { get: () => asked, put: async () => {} },
    create: (entry) => relay(entry.id),
    log: createLog('error'),
  });
  const servers = [{ id: 'notes', state: 'usable', entry: { id: 'notes' } }] as unknown as ConfiguredServer[];
  const first = fleet.apply(servers);
  let isThere: boolean | undefined;
  const second = fleet.apply(servers).then(() => (isThere = catalog.provider('notes') !== undefined));
  await new Promise((next) => setImmediate(next));
  expect(isThere).toBeUndefined();
  answer();
  await Promise.all([first, second]);
  expect(isThere).toBe(true);
});

/** As much of one as the catalog looks at. */
function relay(id: string): McpRelay {
  const unlisted = { kind: 'mcp', listed: undefined, health: { state: 'starting' } };
  return { id, ...unlisted, refresh: async () => ({ tools: [] }) } as unknown as McpRelay;
}
