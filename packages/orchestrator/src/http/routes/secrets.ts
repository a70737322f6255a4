import { AppError } from '@mcpbridge/shared/errors.js';
import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';
import { compileSchema } from '@mcpbridge/shared/validate.js';
import type { ServersConfig } from '../../config/servers-config.js';
import type { Vault } from '../../vault/vault.js';
import type { PlainRoute } from '../routes.js';

const schema: JsonObject = {
  type: 'object',
  properties: { name: { type: 'string' }, value: { type: 'string' } },
  required: ['name', 'value'],
  additionalProperties: false,
};

interface SecretDeps {
  vault: Vault;
  config: ServersConfig;
  /** Resolves when the servers are as the configuration now says. */
  refresh(): Promise<void>;
}

export function secretRoutes({ vault, config, refresh }: SecretDeps): PlainRoute[] {
  const usedBy = (name: string) =>
    config.servers
      .filter(({ raw }) => JSON.stringify(raw).includes(`\${secret:${name}}`))
      .map(({ id }) => id);
  return [
    {
      method: 'GET',
      path: '/api/secrets',
      summary: 'Names of the secrets, and the servers that use each; never a value',
      run: () => ({
        body: {
          secrets: vault.list().map(({ name, changedAt, isUsable }) => ({
            name,
            changedAt: new Date(changedAt).toISOString(),
            usable: isUsable,
            servers: usedBy(name),
          })),
        },
      }),
    },
    {
      method: 'POST',
      path: '/api/secrets',
      summary: 'Add a secret, or replace it: the servers whose configuration names it start anew',
      body: schema,
      async run({ body }) {
        const faults = compileSchema(schema)(body);
        if (faults.length > 0 || !isObject(body))
          throw new AppError('INVALID_REQUEST', `The secret cannot be so: ${faults.join('; ')}.`, {
            details: { faults },
          });
        const name = String(body.name);
        const isNew = await vault.set(name, String(body.value));
        await refresh();
        return { status: isNew ? 201 : 200, body: { name, servers: usedBy(name) } };
      },
    },
    {
      method: 'DELETE',
      path: '/api/secrets/{name}',
      summary: 'Delete a secret: the servers that use it are out of use until it is set again',
      async run({ params: { name = '' } }) {
        await vault.remove(name);
        await refresh();
        return { body: { name, status: 'deleted', servers: usedBy(name) } };
      },
    },
  ];
}
