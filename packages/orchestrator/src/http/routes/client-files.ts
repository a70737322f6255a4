import { AppError } from '@mcpbridge/shared/errors.js';
import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';
import type { Fleet } from '../../catalog/fleet.js';
import { type ClientFile, clientFiles } from '../../config/client-files.js';
import { maskEntry } from '../../config/mask.js';
import type { ServersConfig } from '../../config/servers-config.js';
import type { PlainRoute } from '../routes.js';

interface ClientFileDeps {
  config: ServersConfig;
  fleet: Fleet;
  /** Of whoever runs the orchestrator. */
  home: string;
}

const body: JsonObject = {
  type: 'object',
  properties: {
    file: { type: 'string', description: 'As GET names it.' },
    servers: { type: 'array', items: { type: 'string' } },
  },
  required: ['file', 'servers'],
};

/** What other clients of this machine have configured, to be taken over. Their secrets are in no answer. */
export function clientFileRoutes({ config, fleet, home }: ClientFileDeps): PlainRoute[] {
  return [
    {
      method: 'GET',
      path: '/api/mcp-config/clients',
      summary: 'Servers in the configurations of other MCP clients on this machine, secrets masked',
      run: async () => ({ body: { clients: (await clientFiles(home)).map(shown) } }),
    },
    {
      method: 'POST',
      path: '/api/mcp-config/clients',
      summary: 'Take servers over from the configuration of another client, with their secrets',
      body,
      async run({ body: given, principal }) {
        const { file, names } = wanted(given);
        const found = (await clientFiles(home)).find((one) => one.file === file);
        const known = new Set(config.servers.map(({ id }) => id));
        const taken = names.map((name) => {
          if (!found?.servers.has(name))
            throw new AppError('NOT_FOUND', `There is no server "${name}" in "${file}".`);
          if (known.has(name))
            throw new AppError('INVALID_REQUEST', `There is a server "${name}" already; it stays as it is.`);
          return [name, found.servers.get(name)] as const;
        });
        const { mcpServers } = config.masked();
        await config.save({ ...(mcpServers as JsonObject), ...Object.fromEntries(taken) }, principal);
        await fleet.apply(config.servers);
        return { body: { status: 'saved', servers: names } };
      },
    },
  ];
}

function wanted(body: unknown): { file: string; names: string[] } {
  const { file, servers } = isObject(body) ? body : {};
  if (
    typeof file !== 'string' ||
    !Array.isArray(servers) ||
    !servers.every((name) => typeof name === 'string')
  )
    throw new AppError('INVALID_REQUEST', 'Give the file and the names of its servers.');
  return { file, names: servers };
}

function shown({ client, file, servers }: ClientFile): JsonObject {
  const entries = [...servers].map(([name, entry]) => [name, maskEntry(entry)]);
  return { client, file, servers: Object.fromEntries(entries) };
}
