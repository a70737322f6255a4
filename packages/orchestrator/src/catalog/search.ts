import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';
import { type IndexedTool, ToolIndex } from '../store/tool-index.js';
import type { CatalogTool, CatalogView } from './view.js';

/** Finds the tools of a view by words; its index is made at the first search and goes with the view. */
export class ToolSearch {
  private readonly indexes = new WeakMap<CatalogView, ToolIndex>();

  private constructor(private readonly create: (tools: readonly IndexedTool[]) => ToolIndex) {}

  static async open(): Promise<ToolSearch> {
    return new ToolSearch(await ToolIndex.maker());
  }

  /** Best first. */
  find(view: CatalogView, query: string, limit: number): CatalogTool[] {
    let index = this.indexes.get(view);
    if (!index) {
      index = this.create(view.tools.map(indexed));
      this.indexes.set(view, index);
    }
    return index.search(query, limit).flatMap((name) => view.tool(name) ?? []);
  }
}

function indexed({ name, definition }: CatalogTool): IndexedTool {
  const { title, description } = definition;
  return {
    name,
    description: [title, description].filter((part) => typeof part === 'string').join('. '),
    parameters: parametersOf(definition.inputSchema),
  };
}

function parametersOf({ properties }: JsonObject): string {
  if (!isObject(properties)) return '';
  return Object.entries(properties)
    .map(([name, about]) => `${name} ${isObject(about) ? (about.description ?? '') : ''}`)
    .join('. ');
}
