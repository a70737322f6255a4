import type { ToolDefinition } from '@mcpbridge/shared/tools.js';
import type { CatalogTool } from '../catalog/view.js';
import type { Dialect } from './dialect.js';
import { fittingNames } from './names.js';
import { inputSchemaFor, outputSchemaFor } from './schemas.js';

/** A list of tools in a dialect, and the way back. */
export interface SpokenList {
  tools: readonly ToolDefinition[];
  /** As it is listed, by the name that the client knows. */
  tool(name: string): ToolDefinition | undefined;
  /** The name that we know it by; what is not in the list stays as it is. */
  ownName(name: string): string;
}

/** By the catalog's own lists, which are replaced and never changed: a call costs one look into a map. */
const spoken = new WeakMap<readonly CatalogTool[], Map<Dialect, SpokenList>>();

/** `listed`: a list of a catalog's view; `as`: under the names of all servers together, or under the server's own. */
export function spokenList(
  dialect: Dialect,
  listed: readonly CatalogTool[],
  as: 'exposed' | 'definition',
): SpokenList {
  let lists = spoken.get(listed);
  if (!lists) {
    lists = new Map();
    spoken.set(listed, lists);
  }
  let list = lists.get(dialect);
  if (!list) {
    list = speak(
      dialect,
      listed.map((tool) => tool[as]),
    );
    lists.set(dialect, list);
  }
  return list;
}

function speak(dialect: Dialect, definitions: readonly ToolDefinition[]): SpokenList {
  const own = definitions.map((tool) => tool.name);
  const given = fittingNames(own, dialect.names);
  const tools = definitions.map((tool, index) => inDialect(tool, given[index] ?? tool.name, dialect));
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const ownNames = new Map(given.map((name, index) => [name, own[index] ?? name]));
  return {
    tools,
    tool: (name) => byName.get(name),
    ownName: (name) => ownNames.get(name) ?? name,
  };
}

function inDialect(tool: ToolDefinition, name: string, { schemas }: Dialect): ToolDefinition {
  const inputSchema = inputSchemaFor(schemas, tool.inputSchema);
  const outputSchema = outputSchemaFor(schemas, tool.outputSchema);
  if (name === tool.name && inputSchema === tool.inputSchema && outputSchema === tool.outputSchema)
    return tool;
  return { ...tool, name, inputSchema, ...(outputSchema === undefined ? {} : { outputSchema }) };
}
