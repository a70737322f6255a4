import type { Assistant } from '@mcpbridge/agent/assistant.js';
import { toolsOfAssistant } from './assistant.js';
import type { Approvals } from './calls/approvals.js';
import type { CallPipeline } from './calls/pipeline.js';
import type { Catalog } from './catalog/catalog.js';
import type { ToolSearch } from './catalog/search.js';
import type { McpEndpoint } from './mcp-server/endpoint.js';
import { Browsers } from './providers/browser/browsers.js';
import { CustomTools } from './providers/custom/custom-tools.js';
import { FunctionProvider } from './providers/function-provider.js';
import type { WorkspaceClient } from './providers/workspace/workspace-client.js';
import { seeingTools } from './seeing-tools.js';
import type { CommandTokens } from './sessions/command-tokens.js';
import type { Sessions } from './sessions/sessions.js';
import type { Settings } from './settings.js';
import type { Store } from './store/store.js';
import { virtualTools } from './virtual-tools.js';
import { codeHost, workspaceTools } from './workspace-tools.js';

interface Parts {
  settings: Settings;
  store: Store;
  catalog: Catalog;
  search: ToolSearch;
  sessions: Sessions;
  commandTokens: CommandTokens;
  pipeline: CallPipeline;
  approvals: Approvals;
  endpoint: McpEndpoint;
  assistant: Assistant;
  /** Of the workspace. */
  client: WorkspaceClient;
}

/** Adds the tools that no upstream brings: "virtual" are our own; "custom" the platform's, and those that sessions bring. */
export function addOwnTools(parts: Parts): { customTools: CustomTools; browsers: Browsers } {
  const { settings, store, catalog, sessions, commandTokens, approvals, assistant, client } = parts;
  const virtual = virtualTools({
    ...parts,
    outputs: store.outputs,
    code: codeHost({ sessions, client }),
  });
  catalog.add(
    new FunctionProvider('virtual', 'virtual', [
      ...virtual,
      ...toolsOfAssistant(assistant, approvals, sessions),
    ]),
  );
  const browsers = new Browsers({
    home: settings.home,
    path: settings.browserPath,
    searchPath: settings.env.PATH ?? '',
    allowedHosts: settings.browserHosts,
    idleMs: settings.idleTimeoutMs,
    env: settings.env,
  });
  const custom = new FunctionProvider('custom', 'custom', [
    ...workspaceTools({ sessions, client, commandTokens }),
    ...seeingTools({ sessions, client, browsers, vision: settings.vision }),
  ]);
  catalog.add(custom);
  const customTools = new CustomTools({
    provider: custom,
    store: store.sessionTools,
    hosts: settings.callbackHosts,
    ports: settings.callbackPorts,
    maxBytes: settings.maxMessageBytes,
    onChange: (sessionId) => catalog.changed(sessionId),
  });
  return { customTools, browsers };
}
