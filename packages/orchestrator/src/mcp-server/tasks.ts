import { isObject, type JsonObject, RPC, RpcFailure } from '@mcpbridge/shared/json-rpc.js';
import type { McpRelay } from '../providers/provider.js';
import type { Session } from '../sessions/session.js';

/** The extension of the modern era; tasks of the era before are another protocol. */
export const TASKS = 'io.modelcontextprotocol/tasks';
const METHODS = new Set(['tasks/get', 'tasks/update', 'tasks/cancel']);
/** Of one session; of more the oldest is looked for again. */
const MAX_KNOWN = 1000;

export function isOfTasks(method: string): boolean {
  return METHODS.has(method);
}

/** Whose each task is: at `/mcp`, where all servers are together, nothing but its id says so. */
export class Tasks {
  private readonly places = new WeakMap<Session, Map<string, string>>();

  /** `servers` answers those with the extension that the session may use. */
  constructor(private readonly servers: (session: Session) => McpRelay[]) {}

  /** A call of that server has become a task, if its result says so. */
  note(session: Session, server: string, { resultType, taskId }: JsonObject): void {
    if (resultType !== 'task' || typeof taskId !== 'string') return;
    let known = this.places.get(session);
    if (!known) this.places.set(session, (known = new Map()));
    known.set(taskId, server);
    const [oldest] = known.keys();
    if (known.size > MAX_KNOWN && oldest !== undefined) known.delete(oldest);
  }

  /** Clients keep the ids of tasks for longer than we do, so one that is not known here is asked for at each server. */
  async serverOf(
    session: Session,
    taskId: unknown,
    ask: (server: McpRelay, method: string, params: JsonObject) => Promise<unknown>,
  ): Promise<McpRelay> {
    if (typeof taskId !== 'string')
      throw new RpcFailure(RPC.invalidParams, 'It needs params.taskId, a string.');
    const servers = this.servers(session);
    const place = this.places.get(session)?.get(taskId);
    const known = servers.find(({ id }) => id === place);
    if (known) return known;
    const answers = await Promise.allSettled(servers.map((server) => ask(server, 'tasks/get', { taskId })));
    const server = servers[answers.findIndex(({ status }) => status === 'fulfilled')];
    if (!server) throw refusalIn(answers) ?? unknown(taskId);
    this.note(session, server.id, { resultType: 'task', taskId });
    return server;
  }
}

/** What a client must hear that does not speak of tasks, whosever the task is. */
function refusalIn(answers: PromiseSettledResult<unknown>[]): unknown {
  const reasons = answers.map((answer) => (answer.status === 'rejected' ? answer.reason : undefined));
  return reasons.find((reason) => reason instanceof RpcFailure && reason.code === RPC.missingCapability);
}

function unknown(taskId: string): RpcFailure {
  return new RpcFailure(RPC.invalidParams, `There is no task ${JSON.stringify(taskId)}.`);
}

export function speaksTasks({ about }: McpRelay): boolean {
  const extensions = about?.capabilities.extensions;
  return isObject(extensions) && TASKS in extensions;
}
