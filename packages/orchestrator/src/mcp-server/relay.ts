import { AppError } from '@mcpbridge/shared/errors.js';
import { isObject, type JsonObject, RPC, RpcFailure } from '@mcpbridge/shared/json-rpc.js';
import type { Catalog } from '../catalog/catalog.js';
import { isRelay, type McpRelay } from '../providers/provider.js';
import type { Session } from '../sessions/session.js';
import { type MethodContext, SERVER_INFO } from './context.js';
import { Directory, type Place } from './directory.js';
import { speaksTasks, TASKS, Tasks } from './tasks.js';

/** What we can do at `/mcp` whatever the servers can: an empty list is an answer. */
const CAPABILITIES = {
  tools: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  prompts: { listChanged: true },
  completions: {},
  logging: {},
};

/** Everything of MCP beside tools: at `/mcp/{server}` passed on as it is, at `/mcp` to the server that it belongs to. */
export class Relay {
  readonly tasks: Tasks;
  private readonly directory: Directory;

  constructor(private readonly catalog: Catalog) {
    this.directory = new Directory(catalog);
    this.tasks = new Tasks((session) => this.reached(session).filter(speaksTasks));
  }

  /** Is there a server with tasks that the session may use? */
  hasTasks(session: Session): boolean {
    return this.reached(session).some(speaksTasks);
  }

  /** Has the servers tell news of tasks until `abort`; answers of which ones they will, and when a server ends it. */
  async listenForTasks(
    taskIds: readonly string[],
    context: MethodContext,
    onEnd: () => void,
  ): Promise<string[]> {
    const ids = new Map<McpRelay, string[]>();
    for (const taskId of taskIds) {
      const server = await this.serverOfTask(taskId, context);
      ids.set(server, [...(ids.get(server) ?? []), taskId]);
    }
    const agreed = [...ids].map(([server, own]) => listenAt(server, own, context, onEnd));
    return (await Promise.all(agreed)).flat();
  }

  async run(method: string, params: JsonObject, context: MethodContext): Promise<unknown> {
    const { session, scope } = context;
    if (scope !== undefined) return this.send(this.server(scope, session), method, params, context);
    switch (method) {
      case 'resources/list':
      case 'resources/templates/list':
      case 'prompts/list':
        return this.directory.list(method, session);
      case 'prompts/get': {
        const place = await this.placeOfPrompt(params.name, session);
        return this.send(place.server, method, { ...params, name: place.key }, context);
      }
      case 'resources/read':
      case 'resources/subscribe':
      case 'resources/unsubscribe':
        return this.withResource(method, params, context);
      case 'completion/complete':
        return this.complete(params, context);
      case 'logging/setLevel':
        return this.setLevel(params, context);
      case 'tasks/get':
      case 'tasks/update':
      case 'tasks/cancel':
        return this.send(await this.serverOfTask(params.taskId, context), method, params, context);
      default:
        throw new RpcFailure(RPC.methodNotFound, `Method ${JSON.stringify(method)} is not known.`);
    }
  }

  async aboutAll(session: Session): Promise<JsonObject> {
    await this.catalog.settled();
    const told = this.reached(session)
      .filter((server) => server.about?.instructions)
      .map((server) => `## ${server.id}\n${server.about?.instructions}`);
    const hasTasks = session.era === 'modern' && this.hasTasks(session);
    const capabilities = hasTasks ? { ...CAPABILITIES, extensions: { [TASKS]: {} } } : CAPABILITIES;
    return { capabilities, ...(told.length > 0 ? { instructions: told.join('\n\n') } : {}) };
  }

  /** The server's own words, all of them for a client of its own era. */
  async aboutOne(session: Session, scope: string): Promise<JsonObject> {
    const opened = await this.server(scope, session).opened(session);
    const { era, raw, capabilities, serverInfo = SERVER_INFO, instructions } = opened;
    const words = era === session.era ? raw : instructions === undefined ? {} : { instructions };
    return { ...words, capabilities, serverInfo };
  }

  /** A notification of the client to the servers that it is connected to. */
  tell(session: Session, scope: string | undefined, method: string, params: JsonObject): void {
    const servers =
      scope === undefined ? this.catalog.allProviders().filter(isRelay) : [this.server(scope, session)];
    for (const server of servers) server.notify(session, method, params);
  }

  private server(id: string, session: Session): McpRelay {
    const provider = this.catalog.provider(id);
    if (provider && isRelay(provider)) {
      if (this.catalog.reaches(session.sessionId, id)) return provider;
      throw new AppError('TOOL_NOT_ALLOWED', `This session may not use the server "${id}".`);
    }
    throw new AppError('UNKNOWN_SERVER', `There is no MCP server "${id}".`);
  }

  private send(
    server: McpRelay,
    method: string,
    params: JsonObject,
    { session, abort, listener }: MethodContext,
  ): Promise<unknown> {
    return server.request(session, method, params, { signal: abort.signal, listener });
  }

  private reached({ sessionId }: Session): McpRelay[] {
    const servers = this.catalog.allProviders().filter(isRelay);
    return servers.filter(({ id }) => this.catalog.reaches(sessionId, id));
  }

  private serverOfTask(taskId: unknown, context: MethodContext): Promise<McpRelay> | McpRelay {
    const { session, scope } = context;
    if (scope !== undefined) return this.server(scope, session);
    return this.tasks.serverOf(session, taskId, (...question) => this.send(...question, context));
  }

  private async placeOfPrompt(name: unknown, session: Session): Promise<Place> {
    const place =
      typeof name === 'string' ? await this.directory.find('prompts/list', name, session) : undefined;
    if (place) return place;
    throw new RpcFailure(RPC.invalidParams, `There is no prompt ${JSON.stringify(name)}.`);
  }

  /** A listed address goes to its server; one made from a template is tried at each that has resources. */
  private async withResource(method: string, params: JsonObject, context: MethodContext): Promise<unknown> {
    const { uri } = params;
    if (typeof uri !== 'string')
      throw new RpcFailure(RPC.invalidParams, `${method} needs params.uri, a string.`);
    const place = await this.directory.find('resources/list', uri, context.session);
    if (place) return this.send(place.server, method, params, context);
    let failure: unknown = new RpcFailure(RPC.invalidParams, `There is no resource ${JSON.stringify(uri)}.`, {
      uri,
    });
    for (const server of this.directory.servers('resources', context.session)) {
      try {
        return await this.send(server, method, params, context);
      } catch (thrown) {
        if (context.abort.signal.aborted) throw thrown;
        failure = thrown;
      }
    }
    throw failure;
  }

  private async complete(params: JsonObject, context: MethodContext): Promise<unknown> {
    const ref = isObject(params.ref) ? params.ref : {};
    if (ref.type === 'ref/prompt') {
      const place = await this.placeOfPrompt(ref.name, context.session);
      return this.send(
        place.server,
        'completion/complete',
        { ...params, ref: { ...ref, name: place.key } },
        context,
      );
    }
    const place = await this.directory.find('resources/templates/list', String(ref.uri), context.session);
    if (place) return this.send(place.server, 'completion/complete', params, context);
    throw new RpcFailure(RPC.invalidParams, `There is no resource template ${JSON.stringify(ref.uri)}.`);
  }

  /** Each server that can log is told, now or when the session first uses it; one that fails keeps its own level. */
  private async setLevel({ level }: JsonObject, { session, abort }: MethodContext): Promise<JsonObject> {
    const { signal } = abort;
    const servers = this.directory.servers('logging', session);
    await Promise.allSettled(servers.map((server) => server.setLogLevel(session, level, { signal })));
    return {};
  }
}

/** What it agreed to; rejects if it refuses. `onEnd`: it ended a subscription that it had agreed to. */
function listenAt(
  server: McpRelay,
  taskIds: string[],
  { session, abort, listener }: MethodContext,
  onEnd: () => void,
): Promise<string[]> {
  return new Promise((resolve, reject) => {
    const agreed = (notifications: unknown) => {
      const agreedTo = isObject(notifications) ? notifications.taskIds : undefined;
      resolve(Array.isArray(agreedTo) ? agreedTo.filter((id) => taskIds.includes(id)) : []);
    };
    const options = { signal: abort.signal, listener: { ...listener, agreed } };
    server.request(session, 'subscriptions/listen', { notifications: { taskIds } }, options).then(
      () => {
        resolve([]);
        onEnd();
      },
      (error) => {
        reject(error);
        onEnd();
      },
    );
  });
}
