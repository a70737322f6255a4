import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';
import type { ClientFacts } from './doctor-client-facts.js';
import { LISTS, type ServerView } from './doctor-views.js';

const MOST_NAMES = 8;
const UI = 'io.modelcontextprotocol/ui';
const TASKS = 'io.modelcontextprotocol/tasks';

/** What a client does not let through of exactly these tools, resources and prompts: a sentence each. */
export function lossesOf(client: ClientFacts, view: ServerView): string[] {
  return [
    ...changedNames(client, view.lists.tools),
    ...closedFeatures(client, view),
    ...unaskedLists(client, view),
    ...unheardWords(client, view),
  ];
}

function changedNames(client: ClientFacts, tools: JsonObject[]): string[] {
  const shown = new Map<string, JsonObject[]>();
  const dropped: JsonObject[] = [];
  for (const tool of tools) {
    const name = client.show(String(tool.name));
    if (name === undefined) dropped.push(tool);
    else shown.set(name, [...(shown.get(name) ?? []), tool]);
  }
  const groups = [...shown];
  const alike = groups.flatMap(([, same]) => (same.length > 1 ? same : []));
  const respelled = groups.flatMap(([name, same]) =>
    same.filter((tool) => !name.endsWith(String(tool.name))),
  );
  return [
    ...concerning('drops the tools, for the length of their names', dropped),
    ...concerning(`cannot tell the tools apart and ${client.clash ?? 'may lose some'}`, alike),
    ...concerning('spells the tools in another way', respelled),
  ];
}

function closedFeatures({ handsOn, extensions }: ClientFacts, { lists: { tools } }: ServerView): string[] {
  const structured = tools.filter((tool) => tool.outputSchema !== undefined);
  const withView = tools.filter((tool) => isObject(tool._meta) && tool._meta.ui !== undefined);
  const tasks = tools.filter((tool) => isObject(tool.execution) && tool.execution.taskSupport === 'required');
  return [
    ...(handsOn === 'both' ? [] : concerning(`hands on ${handsOn} of the results of`, structured)),
    ...(extensions.includes(UI) ? [] : concerning('shows no view of the tools', withView)),
    ...(extensions.includes(TASKS)
      ? []
      : concerning('cannot run as tasks, as they have to be, the tools', tasks)),
  ];
}

function unaskedLists(client: ClientFacts, { lists }: ServerView): string[] {
  return LISTS.flatMap(({ name, words }) =>
    client.lists.includes(name) ? [] : concerning(`never asks for the ${words}`, lists[name]),
  );
}

function unheardWords(client: ClientFacts, { about }: ServerView): string[] {
  const capabilities = isObject(about.capabilities) ? about.capabilities : {};
  const changing = isObject(capabilities.tools) && capabilities.tools.listChanged === true;
  const lost: string[] = [];
  if (about.instructions && !client.readsInstructions)
    lost.push("does not give the server's instructions to the model");
  if (changing && !client.hearsOfChanges) lost.push('does not list the tools again when they change');
  return lost;
}

function concerning(what: string, items: JsonObject[]): string[] {
  if (items.length === 0) return [];
  const names = items.slice(0, MOST_NAMES).map((item) => String(item.name));
  const left = items.length - names.length;
  return [`${what}: ${names.join(', ')}${left > 0 ? ` and ${left} more` : ''}`];
}
