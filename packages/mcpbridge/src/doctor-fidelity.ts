import { messageOf } from '@mcpbridge/shared/errors.js';
import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';
import { exposedName } from '@mcpbridge/shared/tool-names.js';
import { CLIENTS } from './doctor-client-facts.js';
import { compareLists, compareViews } from './doctor-compare.js';
import { lossesOf } from './doctor-losses.js';
import { bridgeRoad, httpRoad, readApi } from './doctor-roads.js';
import { LISTS, type Road, readView, type ServerView } from './doctor-views.js';
import type { BridgeSettings } from './settings.js';

type Print = (line: string) => void;

interface Examination {
  settings: BridgeSettings;
  env: NodeJS.ProcessEnv;
  print: Print;
}

/** Compares what servers offer with and without the bridge, and says what clients will lose; true when we lose nothing. */
export async function examineFidelity(
  settings: BridgeSettings,
  env: NodeJS.ProcessEnv,
  server: string | undefined,
  print: Print,
): Promise<boolean> {
  try {
    if (settings.tools) throw new Error('MCP_TOOLS is set, which offers that list and no server: unset it.');
    const all = await viewOf(bridgeRoad(settings, '/mcp', env));
    let whole = true;
    for (const id of await serversOf(settings, server, print)) {
      whole = (await examineServer(id, all, { settings, env, print })) && whole;
    }
    print(whole ? 'Nothing is lost on the way.' : 'Something is lost on the way.');
    return whole;
  } catch (error) {
    print(`FAILED  ${messageOf(error)}`);
    return false;
  }
}

/** The one that is named, here or by MCP_API_URL, or all that are up. */
async function serversOf(
  settings: BridgeSettings,
  named: string | undefined,
  print: Print,
): Promise<string[]> {
  const own = named ?? settings.mcpPath.split('/')[2];
  if (own !== undefined) return [own];
  const status = await readApi(settings, '/api/mcp-config/status');
  if (!status) throw new Error('It has no /api/mcp-config/status: an executor other than the orchestrator.');
  const servers = Array.isArray(status.servers) ? status.servers.filter(isObject) : [];
  for (const { id, state } of servers)
    if (state !== 'ready') print(`\nserver  ${id}: left out, it is ${state}`);
  return servers.filter(({ state }) => state === 'ready').map(({ id }) => String(id));
}

async function examineServer(
  id: string,
  all: ServerView,
  { settings, env, print }: Examination,
): Promise<boolean> {
  const path = `/mcp/${encodeURIComponent(id)}`;
  const details = (await readApi(settings, `/api/servers/${encodeURIComponent(id)}`)) ?? {};
  const direct = await viewOf(httpRoad(settings, path));
  const through = await viewOf(bridgeRoad(settings, path, env));
  print(`\nserver  ${id}: ${countsOf(direct)}`);
  const listed = listedAmongAll(direct, id, details);
  const found = [
    report(`${path} through the bridge`, compareViews(direct, through), print),
    report('/mcp through the bridge, but for prefixed names', compareLists(listed, all), print),
    report('the orchestrator’s check of the definitions', setAside(details), print),
  ];
  foretell(settings.mcpPath === '/mcp' ? listed : direct, print);
  return found.every((fine) => fine);
}

function foretell(view: ServerView, print: Print): void {
  print('By its own doing, and with "bridge" as the name of the entry,');
  for (const client of CLIENTS) {
    print(`  ${client.name}`);
    for (const loss of lossesOf(client, view)) print(`    ${loss}`);
    print(`    with any server: ${client.always.join('; ')}`);
  }
}

async function viewOf(road: Road): Promise<ServerView> {
  try {
    return await readView(road);
  } finally {
    await road.close();
  }
}

function countsOf({ lists }: ServerView): string {
  return LISTS.map(({ name, words }) => `${lists[name].length} ${words}`).join(', ');
}

function report(road: string, lost: string[], print: Print): boolean {
  print(`${lost.length === 0 ? 'same   ' : 'LOST   '} ${road}${lost.length === 0 ? '' : ':'}`);
  for (const loss of lost) print(`    ${loss}`);
  return lost.length === 0;
}

function setAside({ set_aside }: JsonObject): string[] {
  const rejected = Array.isArray(set_aside) ? set_aside.filter(isObject) : [];
  return rejected.map(({ name, reason }) => `${name}: is set aside, ${reason}`);
}

/** The server's entries under the names that they have at `/mcp`, where those of all servers are. */
function listedAmongAll(direct: ServerView, id: string, { tool_names }: JsonObject): ServerView {
  const names = Array.isArray(tool_names) ? tool_names : [];
  const tools = direct.lists.tools.map((tool, index) => ({ ...tool, name: names[index] ?? tool.name }));
  const prompts = direct.lists.prompts.map((prompt) => ({
    ...prompt,
    name: exposedName(id, String(prompt.name)),
  }));
  return { about: direct.about, lists: { ...direct.lists, tools, prompts } };
}
